/** The section about web searches of docs/reference/translation.md. */
export const searchesText = `## Web search

A search that the vendor runs is translated between all formats: \`web_search_options\` (Chat), \`web_search\` and its previews (Responses),
\`web_search_20250305\` and later (Messages), \`googleSearch\` (Gemini). Other tools that a vendor runs are not.

|                               | Chat      | Responses        | Messages   | Gemini |
| ----------------------------- | --------- | ---------------- | ---------- | ------ |
| allowed domains               | no        | yes              | yes        | no     |
| blocked domains               | no        | no               | yes        | no     |
| place of the user             | yes       | yes              | yes        | no     |
| most searches                 | no        | \`max_tool_calls\` | \`max_uses\` | no     |
| size of the context           | yes       | yes              | no         | no     |
| only pages that are kept      | no        | yes              | no         | no     |
| next to tools of the client   | see below | yes              | yes        | no     |
| a tool choice that demands it | emulated  | yes              | yes        | no     |

- If a format cannot express the place, the number or the size, that part is dropped. If it cannot limit the domains, or
  forbid fetching, or force a search, or if the model cannot search (the trait \`web_search\`), then the search is left out
  with a note if there are tools of the client, because agents list it with each request; it is refused if it is the only
  tool or is forced.
- A Chat channel gets a search together with tools of the client only if its model is known to search. On its own, the search
  is sent unless the model is known not to search. Gemini gets no search together with functions: before 3 it refuses both
  together, and since 3 it requires parts of the search to be sent back, which no client format can carry. Messages channels
  get version \`20250305\`, which all models take; with a tool of the client named \`web_search\` they get none.
- **Answers**: sources stay attached to the words that they referred to. A Messages client gets its text in several blocks,
  each with the sources of all its words; in a stream a block ends with its sources, so a source that arrives after all the
  text applies to all of it. Gemini's offsets in bytes become offsets in UTF-16. Chat clients get sources, but not the
  search; Responses clients get its queries and the addresses of its pages; Messages clients also their titles, and the
  number of searches in \`usage\`. Steps between searches, such as pages that the model opens, are left out. So are the
  suggestions that Gemini wants shown, with a note.
- **Second turns**: a search goes back unchanged to a channel of the client's own format, and is dropped for others: the text
  after it stays. Pages that a Messages client got from another vendor have a mark in \`encrypted_content\` and
  \`encrypted_index\`, where Anthropic puts its own sealed text. The gateway takes such searches and sources out of requests to
  Messages channels, with a note.`
