/** The section about web searches of docs/reference/translation.md. */
export const searchesText = `## Web search

A search that the vendor runs crosses all formats: \`web_search_options\` (Chat), \`web_search\` and its previews (Responses),
\`web_search_20250305\` and later (Messages), \`googleSearch\` (Gemini). Other tools that a vendor runs do not.

|                               | Chat      | Responses        | Messages   | Gemini |
| ----------------------------- | --------- | ---------------- | ---------- | ------ |
| allowed domains               | no        | yes              | yes        | no     |
| blocked domains               | no        | no               | yes        | no     |
| place of the user             | yes       | yes              | yes        | no     |
| most searches                 | no        | \`max_tool_calls\` | \`max_uses\` | no     |
| size of the context           | yes       | yes              | no         | no     |
| only pages that are kept      | no        | yes              | no         | no     |
| beside tools of the client    | see below | yes              | yes        | no     |
| a tool choice that demands it | emulated  | yes              | yes        | no     |

- What a format cannot say of the place, the number or the size is dropped. Where it cannot keep the domains, or fetch nothing,
  or demand a search, or where the model cannot search (the trait \`web_search\`), the search is left out beside tools of
  the client, with a note, and refused where it is the one tool or demanded: agents list it with each request.
- A Chat channel gets a search beside tools of the client only if its model is known to search. Alone, it is sent unless
  the model is known not to. Gemini takes no search beside functions: before 3 it refuses both together, and since 3 it
  wants parts of the search back for which no client has a place. Messages channels get version \`20250305\`, which all models
  take; with a tool of the client named \`web_search\` they get none.
- **Answers**: sources stand on the words that they stood on. A Messages client gets its text in several blocks, each with the
  sources of all its words; in a stream a block ends with its sources, so one that came behind all text stands on all of
  it. Gemini's offsets in bytes become offsets in UTF-16. Chat clients get sources, but not the search; Responses clients
  get its queries and the addresses of its pages; Messages clients also their titles, and the number of searches in \`usage\`.
  Steps between searches, such as pages that the model opens, are left out. So are the suggestions that Gemini wants shown,
  with a note.
- **Second turns**: a search goes back unchanged to a channel of the client's own format, and is dropped for others: the text
  behind it stays. Pages that a Messages client got from another vendor have a mark in \`encrypted_content\` and
  \`encrypted_index\`, where Anthropic puts its own sealed text. The gateway takes such searches and sources out of requests to
  Messages channels, with a note.`
