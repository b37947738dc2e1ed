import { mediaWords } from '../protocols/body-marks.ts'
import type { NeedName } from '../traits/needs.ts'

/** A need that shows in the bytes of a body. */
export type SignedNeed = Exclude<NeedName, 'streaming'>

const quoted = (word: string) => `"${word}"`

/**
 * Signs of a need in the bytes of a body. Without one of them the request certainly does not have the need.
 * Other spellings of these names, with escapes, are left to the upstream.
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

/** Looks for each sign once: needs share some of them, and a body may be long. */
export function hasSignOfAny(body: Buffer, needs: readonly SignedNeed[]): boolean {
  if (needs.length === 0) return false
  return [...new Set(needs.flatMap((need) => signs[need]))].some((sign) => body.includes(sign))
}

/** All needs that a body has signs of. */
export function signedNeedsIn(body: Buffer): readonly SignedNeed[] {
  return signedNeeds.filter((need) => hasSignOfAny(body, [need]))
}
