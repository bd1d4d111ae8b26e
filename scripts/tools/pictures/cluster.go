package main

// cluster draws a call that enters at one gateway and reaches a node whose socket another one holds.
func cluster() string {
	c := newCanvas(900, 440, "A call enters at any gateway, crosses NATS, and reaches the browser or desktop through the gateway that holds its socket")

	c.labelled("box", 24, 60, 150, 90, "Who calls", "curl, your service,", "an agent")
	c.labelled("mark", 250, 60, 140, 90, "gateway", "any of them")
	c.labelled("box", 460, 60, 100, 90, "NATS", "a subject", "for each node")
	c.labelled("mark", 630, 60, 140, 90, "gateway", "holds the", "node's socket")
	c.labelled("box", 630, 220, 140, 90, "Your browser", "or desktop: it has", "the tools")

	for _, x := range [][2]int{{174, 250}, {390, 460}, {560, 630}} {
		c.arrow("path", "head", x[0], 90, x[1], 90)
		c.arrow("line", "tip", x[1], 122, x[0], 122)
	}
	c.step(1, 212, 74)
	c.text("small muted middle", 212, 48, "REST, gRPC")
	c.step(2, 425, 74)
	c.step(3, 595, 74)
	c.arrow("path", "head", 705, 150, 705, 220)
	c.arrow("line", "tip", 740, 220, 740, 150)
	c.step(4, 685, 196)
	c.text("small muted", 752, 189, "WebSocket")
	c.text("small muted", 782, 109, "back: the answer,")
	c.text("small muted", 782, 125, "unchanged")

	c.labelled("box", 250, 220, 140, 90, "orchestrator", "runs agents", "SQL, files, models")
	c.arrow("line", "tip", 320, 220, 320, 150)
	c.labelled("box", 460, 220, 130, 90, "registry", "who is online", "Redis")
	for _, gateway := range []int{355, 650} { // both tell it what they hold
		c.line("line", gateway, 150, gateway, 172)
	}
	c.line("line", 355, 172, 650, 172)
	c.arrow("line", "tip", 525, 172, 525, 220)

	for i, said := range []string{
		"The call enters at any gateway. There may be any number of them.",
		"It is published on the node's own subject. Nothing is looked up, and a node that is not there is known at once.",
		"The gateway that holds the node's socket gets it, and keeps it in line while the node is busy.",
		"The node runs the tool, and its answer goes back unchanged. A failed call says whether the node may have seen it.",
	} {
		c.step(i+1, 40, 342+i*24)
		c.text("", 60, 347+i*24, said)
	}
	return c.end()
}

// labelled is a box with a title and up to two lines below it.
func (c *canvas) labelled(class string, x, y, width, height int, title string, lines ...string) {
	c.rect(class, x, y, width, height)
	c.text("bold middle", x+width/2, y+30, title)
	for i, line := range lines {
		c.text("small muted middle", x+width/2, y+52+i*18, line)
	}
}
