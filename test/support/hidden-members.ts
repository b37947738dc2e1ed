/** `part` is in the message, the others beside it. */
export type Members = { part?: object; [member: string]: unknown }
type Texts = 'openai-chat' | 'openai-responses' | 'anthropic-messages'

/** Members by which a vendor adds input that the body does not contain, in each format. */
export const hiddenInput: Record<Texts, readonly Members[]> = {
  'openai-chat': [
    { part: { type: 'file', file: { file_id: 'file-1' } } },
    { plugins: [{ id: 'web' }] },
    { web_search_options: {} },
    { cached_content: 'cachedContents/1' },
  ],
  'openai-responses': [
    { part: { type: 'input_file', file_id: 'file-1' } },
    { tools: [{ type: 'web_search' }] },
    { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    { previous_response_id: 'resp_1' },
  ],
  'anthropic-messages': [
    { part: { type: 'document', source: { type: 'file', file_id: 'file_1' } } },
    { part: { type: 'document', source: { type: 'url', url: 'https://e.example/x.pdf' } } },
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { container: 'container_1' },
  ],
}
