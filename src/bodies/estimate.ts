import type { Block, ChatRequest } from '../canonical/chat.ts'
import { bytesPerToken } from '../canonical/tokens.ts'

/**
 * With most vendors, an image of usual size costs this much. Each turn also costs a few tokens for its frame.
 */
const tokensPerImage = 1_000
const tokensPerTurn = 4
/**
 * A page of a document counts both as text and as an image. Base64 hides the number of pages, so this is a
 * rough average.
 */
const documentBytesPerToken = 40

/**
 * Estimates a request's input tokens: within a fifth for English text, less precisely for code and images.
 */
export function estimateInputTokens(request: ChatRequest): number {
  let tokens = 0
  for (const { blocks } of request.turns) {
    tokens += tokensPerTurn
    for (const block of blocks) tokens += blockTokens(block)
  }
  for (const tool of request.tools) {
    const schema = tool.type === 'function' ? tool.parameters : undefined
    const words = tool.type === 'hosted' ? tool.name : `${tool.name}${tool.description ?? ''}`
    tokens += textTokens(words) + (schema === undefined ? 0 : textTokens(JSON.stringify(schema)))
  }
  return Math.ceil(tokens)
}

function blockTokens(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return textTokens(block.text)
    case 'tool-call':
      return textTokens(block.name) + textTokens(block.input)
    case 'tool-result':
      return block.content.reduce((sum, part) => sum + blockTokens(part), tokensPerTurn)
    case 'image':
      return tokensPerImage
    case 'document':
      if (block.source.kind === 'text') return textTokens(block.source.text)
      return block.source.kind === 'base64'
        ? block.source.data.length / documentBytesPerToken
        : tokensPerImage
    case 'audio':
      return block.data.length / documentBytesPerToken
    case 'foreign':
      return 0
  }
}

function textTokens(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken
}
