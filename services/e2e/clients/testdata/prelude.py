# What the sample calls and leaves undefined: the tools themselves.
async def execute_tool(name, args):
    if name == "write_file":
        with open(args["path"], "w", encoding="utf-8") as file:
            return file.write(args["content"])
    with open(args["path"], encoding="utf-8") as file:
        return file.read()


