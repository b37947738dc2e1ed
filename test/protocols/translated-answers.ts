/** The section about answers of docs/reference/translation.md. */
export const answersText = `## Answers

- The parts of an answer that other formats cannot carry are left out: pictures, sound, and citations of sources without a
  URL. The usage log has a note for each, whose path begins with \`answer.\`; the header has it too, unless the answer is
  streamed. An answer with only pictures or sound is an error. A spoken answer has its transcript as text.
- The sources that an upstream lists for its whole answer, as Perplexity does, are cited by the text.
- A call has its name and its arguments however they come: in pieces, whole, repeated, as text or as an object. Different
  arguments after complete ones are an error. The calls of all choices of a Chat answer are read, because some upstreams put
  them into a choice of their own.
- A call without an id gets one that no other answer has: it is made from the id of the answer, or of the request.
- What a vendor wants back unchanged stays where it was: signatures of thoughts, and \`extra_content\` of calls and messages, in
  which Gemini's Chat endpoint has them. Clients of other formats carry them in signed envelopes.
- Numbers in arguments of tools, in schemas and in metadata keep their digits, in requests too.
- Parts of Gemini that run code (\`executableCode\`, \`codeExecutionResult\`) are left out with a note.
- No tool is called with arguments that the model did not give. Chat and Responses clients get arguments that are not JSON
  unchanged, as text that cannot be parsed. A Messages client gets its input as an object: there the answer is an error, a
  502 or an \`error\` event before the block of the call has ended. If the answer was cut off, by \`max_tokens\` or a filter, a
  whole answer leaves the unfinished call out, and a streamed one ends it as the vendor does.
- Items of a Responses stream come one after the other. Fragments of parallel calls wait only where the upstream interleaves
  them.
- Two messages of a Responses answer are two paragraphs for a Chat client. Two messages in one stream of a Messages upstream
  are an error.
- All reasoning is a summary for Responses clients: OpenAI and Open Responses name the events of raw thoughts differently.
- An abnormal end is not reported as a normal one, whatever word the vendor uses for it: \`content_filter: safety\`,
  \`guardrail_intervened\`, \`model_length\`. A filter is \`content_filter\` or \`refusal\`, a full context
  \`model_context_window_exceeded\` for Messages clients, an answer that broke off, for example at a malformed call, an error.
  Gemini's OTHER counts as cut off. Any other word counts as a normal end.

## Answers that are not what their label says

Some upstreams send a stream as \`text/plain\` or JSON, or without a content type, and some send one JSON document as a stream. The first
bytes decide: an answer that begins with a line of server-sent events is a stream, one that begins with \`{\` or \`[\` is a JSON document.
The client gets the content type that matches, and a whole answer if it asked for one. Otherwise the bytes of a pass-through are unchanged.

- A byte order mark before a JSON answer is left out. A list of chunks, which Gemini sends if it is not asked for events, is read as a stream.
- These are not read and give a 502: numbers that JSON does not have (NaN, -Infinity), compressed bytes without a
  \`content-encoding\`, and events without a final blank line. Guessing could take a broken answer for a whole one, and a
  client of the vendor could not read them either.
- An event above \`SSE_FRAME_BYTES_MAX\` ends a translated stream, because it is held whole. In pass-through the stream continues, and its usage is estimated.
- A count that an upstream leaves out is computed as the rest of its total, or else estimated; \`usage_source\` is then \`estimated\`, or \`partial\` where the
  upstream has counted the input. The client of a Messages pass-through gets the counts as they came.
- The role \`developer\`, and a client's own header lines in a system prompt, are changed only in translation: in pass-through they stay as the client sent them.
- A stream that fails is charged by an estimate of what arrived, as [failures](failures.md) says: the upstream charges for it too.`
