/**
 * Removes the sentences of an upstream's message that are about the operator's account or credential, which
 * clients must not see. Undefined if nothing remains. Sentences about the request stay: its size, model and
 * content, a rate, and how long to wait.
 *
 * https://platform.openai.com/docs/guides/rate-limits, https://console.groq.com/docs/rate-limits, read
 * 2026-11-28: a 429 names the organization between the model and the limit, and ends with links to the
 * account's pages.
 */
export function withoutAccount(words: string): string | undefined {
  const sentences = words
    .slice(0, charactersMax)
    .replace(holder, '')
    .replace(owner, 'the ')
    .replace(labelled, '')
    .replace(accountId, '(account)')
    .split(/(?<=[.!?])\s+|\n+/)
  const kept = sentences.filter((sentence) => sentence.trim() !== '' && !accountWords.test(sentence))
  return kept.length === 0 ? undefined : kept.join(' ')
}

const charactersMax = 2000
/** Such as ` in organization org-abc` or ` for project "x"`. */
const holder =
  /\s+(?:in|for|of|by|on) (?:the |your )?(?:organi[sz]ation|project|account|workspace|team)(?: (?:id|name))?:?\s+[`'"]?[\w.@-]+[`'"]?/gi
/**
 * Such as `your organization's rate limit` in Anthropic's messages, which end with the id: `(org: 1b2c-3d4e,
 * model: x)`.
 */
const owner = /\b(?:your|this) (?:organi[sz]ation|project|account|workspace|team)['\u2019]s /gi
const labelled = /\b(?:org|organi[sz]ation|project|account|workspace)(?: id)?: ?[\w.@-]+(?:, ?)?/gi
/** Never matches part of a longer word, because that may be a secret, which redaction must see unchanged. */
const accountId = /(?<![\w-])(?:org|proj|acct|key|sk|ak|team|ws)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{4,}/g
/** Includes the Chinese words for balance, arrears, account and token. */
const accountWords =
  /\b(?:billing|payment|invoice|api[ _-]?keys?|credentials?(?!-)|access tokens?|credits?|balance|recharge|top ?up|subscription|upgrade|your (?:account|organi[sz]ation|plan|project|(?:current )?quota)|this (?:account|organi[sz]ation|project|key))\b|https?:\/\/\S*(?:account|billing|settings|console|dashboard|platform)|\u4f59\u989d|\u6b20\u8d39|\u8d26\u6237|\u8d26\u53f7|\u4ee4\u724c/i

/**
 * Masks the ids of the operator's account in a message about the request, which is otherwise passed to the
 * client unchanged. The text may be JSON with escaped slashes.
 */
export function maskAccountIds(words: string): string {
  return ids.reduce((text, id) => text.replace(id, '$1(account)'), words)
}

/** Matches the start of a word, including one after a JSON escape: `\n`, or `\u0027` for a quote. */
const begin = String.raw`(?:(?<![\w-])|(?<=\\(?:[nrtbf]|u[0-9a-fA-F]{4})))`
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The first group is kept. */
const ids: readonly RegExp[] = [
  // OpenAI, Groq and resellers. A name without a digit could be one of the client's functions.
  new RegExp(
    String.raw`(${begin})(?:org-|org_|proj_|acct_)(?=[A-Za-z]{0,63}\d)[A-Za-z0-9]{6,64}(?![\w-]|[.+/=:]\w)`,
    'g',
  ),
  // Anthropic.
  new RegExp(String.raw`(${begin}(?:organi[sz]ation|org|workspace)(?: id)?:? )${uuid}\b`, 'gi'),
  /(organizations\\?\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  // AWS.
  new RegExp(String.raw`(${begin}arn:aws[a-z-]{0,20}:[a-z0-9-]{1,40}:[a-z0-9-]{0,30}:)\d{12}\b`, 'g'),
  new RegExp(String.raw`(${begin}(?:account|project)(?:[ _](?:id|number))?:? ?)\d{9,12}\b`, 'gi'),
  // Google.
  new RegExp(String.raw`(${begin}projects\\?\/)(?:\d{6,20}\b|[a-z][a-z0-9-]{4,40}(?=\\?\/locations\b))`, 'g'),
  // Azure.
  new RegExp(String.raw`(\/subscriptions\\?\/|${begin}subscription )${uuid}\b`, 'gi'),
  /(\/resourceGroups\\?\/)[\w.()-]{1,90}/gi,
]
