import { stringPattern, unquoted } from '../plain-text.ts'

/**
 * The text of a frame that has nothing but a piece of content, as nearly all frames do. Undefined for any other frame,
 * and in case of doubt. Such a frame needs JSON.parse, which costs five times as much.
 *
 * The frame may have members without content: scalars beside the choices, nulls in the choice and in its delta. No
 * member that counts may come twice.
 */
export function plainText(frame: string): string | undefined {
  return unquoted(plainFrame.exec(frame)?.[1])
}

// Each part differs from the part after it in its first characters, so the engine never goes back. The bounds keep its
// stack small.
const name = String.raw`[^"\\\x00-\x1f]*": ?`
const scalar = String.raw`(?:"[^"\\\x00-\x1f]*"|-?\d+(?:\.\d+)?|null|true|false)`
const beside = `"(?!choices"|error"|object": ?"error")${name}${scalar}`
const inChoice = `"(?!delta")(?:index": ?0|${name}null)`
const inDelta = String.raw`"(?!content")(?:role": ?"[^"\\\x00-\x1f]*"|${name}null)`
const content = `"content": ?${stringPattern}`
const delta = `"delta": ?\\{(?:${inDelta}, ?){0,8}${content}(?:, ?${inDelta}){0,8}\\}`
const choice = `\\{(?:${inChoice}, ?){0,8}${delta}(?:, ?${inChoice}){0,8}\\}`
const plainFrame = new RegExp(
  `^\\{(?:${beside}, ?){0,16}"choices": ?\\[${choice}\\](?:, ?${beside}){0,16}\\}$`,
)
