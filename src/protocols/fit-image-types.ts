import type { Block, ChatRequest } from '../canonical/chat.ts'
import { rasterTypeOf } from '../canonical/image-type.ts'
import type { Notes } from './notes.ts'

/**
 * Sets the type of each image according to its bytes. Claude refuses an image labelled as another type, and
 * clients label images by file name. https://github.com/Helicone/ai-gateway/issues/188
 */
export function fitImageTypes({ turns }: ChatRequest, notes: Notes): Partial<ChatRequest> {
  let isChanged = false
  const fit = <Part extends Block>(block: Part): Part => {
    if (block.type === 'tool-result') {
      const content = block.content.map(fit)
      return content.every((part, at) => part === block.content[at]) ? block : { ...block, content }
    }
    if (block.type !== 'image' || block.source.kind !== 'base64') return block
    const { mediaType, data } = block.source
    const real = rasterTypeOf(Buffer.from(data.slice(0, beginCharacters), 'base64'))
    const given = mediaType.toLowerCase()
    if (real === undefined || real === (given === 'image/jpg' ? 'image/jpeg' : given)) return block
    isChanged = true
    notes.add('mapped', block.path, `its content is ${real}, not ${given.slice(0, 60)}`)
    return { ...block, source: { ...block.source, mediaType: real } }
  }
  if (!turns.some(({ blocks }) => blocks.some(mayHaveImage))) return {}
  const fitted = turns.map((turn) => ({ ...turn, blocks: turn.blocks.map(fit) }))
  return isChanged ? { turns: fitted } : {}
}

function mayHaveImage(block: Block): boolean {
  return block.type === 'tool-result' ? block.content.some(isImage) : isImage(block)
}

function isImage({ type }: Block): boolean {
  return type === 'image'
}

/** More than the base64 of twelve bytes, because it can contain line breaks. */
const beginCharacters = 24
