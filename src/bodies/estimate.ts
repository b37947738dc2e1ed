import type { Block, ChatRequest } from '../canonical/chat.ts'
import { bytesPerToken } from '../canonical/tokens.ts'

/** An image of usual size costs this much with most vendors; each turn also costs its frame. */
const tokensPerImage = 1_000
const tokensPerTurn = 4
/**
 * A page of a document counts as text and as a picture. Base64 hides the number of pages, so this is a rough
 * average.
 */
const documentBytesPerToken = 40

/**
 * An estimate of a request's input tokens: within a fifth for English text, less exact for code and pictures.
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
