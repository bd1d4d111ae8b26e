// Package knowledge has the tools by which an agent looks things up in the user's own documents: search_knowledge_base,
// list_knowledge_bases and parse_resource_file, over the bases that the request names.
//
// Documents were written by strangers. What the tools return of them is quoted, each passage between marks that no passage can
// forge, with its file and page so that an answer can cite it, and begins by saying that it is data and no instruction.
package knowledge
