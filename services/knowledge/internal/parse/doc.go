// Package parse reads documents: Markdown, text, CSV, HTML, DOCX, XLSX, PPTX and PDF by libraries, older and scanned ones by an Apache
// Tika server where there is one. What it returns are sections, which keep the structure: the page or slide, the path of headings,
// and whether it is prose, a table or code.
//
// Documents come from strangers. The formats that are archives or programs of a kind (Office and PDF) are read in a process of their
// own, with bounds on its time, memory and output: a zip bomb or a PDF that loops ends that process, and the document fails alone. The
// process has no credentials in its environment.
package parse
