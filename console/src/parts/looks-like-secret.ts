/** A start that our own secrets and those of most other gateways have. */
const prefix = /^(tg[a-z]?|sk)[-_]/
/** The longest text that a list may be asked for: what "Secret begins" shows of a key is no longer. */
const hintCharacters = 8
const randomCharacters = 32

/** Whether a word begins as secrets of keys do, and has more than a page shows of them. */
function beginsLikeSecret(word: string): boolean {
  return prefix.test(word) && word.length > hintCharacters
}

/** Whether a text has such a word. Ids of upstreams can look like secrets, but none begins like one. */
export function hasSecret(text: string): boolean {
  return text.split(/[\s:"]+/).some(beginsLikeSecret)
}

/**
 * Whether a text may be the secret of a key. It must then be in no address, and so in no search: names and
 * ids of models have spaces or slashes, are shorter, or have no capitals.
 */
export function looksLikeSecret(text: string): boolean {
  const word = text.trim()
  if (/[\s/]/.test(word)) return false
  if (prefix.test(word)) return beginsLikeSecret(word)
  if (word.length < randomCharacters) return false
  return /^[0-9a-f]+$/.test(word) || (/[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word))
}

/** What a field says that searches for no secret. */
export const secretElsewhere = 'This looks like a secret. Paste it into "Find anything" to open its key.'
