import type { NeedName } from '../catalog/traits/needs.ts'
import { mediaWords } from '../protocols/body-marks.ts'
import { contains } from './remembered-bodies.ts'

/** A need that can be detected in the bytes of a body. */
export type SignedNeed = Exclude<NeedName, 'streaming'>

const quoted = (word: string) => `"${word}"`

/**
 * Signs of a need in the bytes of a body. If none of them is present, the request certainly does not have the
 * need. Names spelt with escapes are left to the upstream.
 */
const signs: Readonly<Record<SignedNeed, readonly string[]>> = {
  imageInput: mediaWords.imageInput.map(quoted),
  documentInput: mediaWords.documentInput.map(quoted),
  audioInput: mediaWords.audioInput.map(quoted),
  tools: ['"tools"', '"functions"'],
  forcedTools: ['"tool_choice"', '"function_call"'],
  schema: ['json_schema'],
  webSearch: ['web_search'],
  audioOutput: ['"modalities"'],
  imageOutput: ['"modalities"'],
}

const signedNeeds = Object.keys(signs).filter((name): name is SignedNeed => name in signs)

/** Searches for each sign only once, because needs share some of them and a body may be long. */
export function hasSignOfAny(body: Buffer, needs: readonly SignedNeed[]): boolean {
  if (needs.length === 0) return false
  return [...new Set(needs.flatMap((need) => signs[need]))].some((sign) => contains(body, sign))
}

export const needSigns: readonly string[] = Object.values(signs).flat()

/** Returns all the needs of which a body shows signs: those of `needSigns` that are in `found`. */
export function signedNeedsIn(found: ReadonlySet<string>): readonly SignedNeed[] {
  return signedNeeds.filter((need) => signs[need].some((sign) => found.has(sign)))
}
