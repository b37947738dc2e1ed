import { stringPattern, unquoted } from '../plain-text.ts'

/**
 * The text of a frame of a stream that tells nothing but a piece of content: what nearly all frames are. Undefined for
 * any other frame, and whenever in doubt: then JSON.parse has to tell, which costs five times as much.
 *
 * Members that carry nothing may be there: scalars beside the choices, nulls in the choice and in its delta. No member
 * that counts may come twice.
 */
export function plainText(frame: string): string | undefined {
  return unquoted(plainFrame.exec(frame)?.[1])
}

// Every part can be told from what follows it by its first characters, so that there is nothing to try again; the
// bounds keep the engine's stack small.
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
