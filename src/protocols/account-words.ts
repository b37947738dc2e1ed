/**
 * The words of an upstream without those about the operator's account or credential there, which clients must
 * not see. Undefined: nothing is left. What is about the request stays: its size, its model, its content, a
 * rate and how long to wait.
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
/** ` in organization org-abc`, ` for project "x"`. */
const holder =
  /\s+(?:in|for|of|by|on) (?:the |your )?(?:organi[sz]ation|project|account|workspace|team)(?: (?:id|name))?:?\s+[`'"]?[\w.@-]+[`'"]?/gi
/** `your organization's rate limit`: Anthropic, with the id after it: `(org: 1b2c-3d4e, model: x)`. */
const owner = /\b(?:your|this) (?:organi[sz]ation|project|account|workspace|team)['\u2019]s /gi
const labelled = /\b(?:org|organi[sz]ation|project|account|workspace)(?: id)?: ?[\w.@-]+(?:, ?)?/gi
/** Never a part of a longer word, which may be a secret: redaction must see it as it came. */
const accountId = /(?<![\w-])(?:org|proj|acct|key|sk|ak|team|ws)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{4,}/g
/** Also the Chinese words for balance, arrears, account and token. */
const accountWords =
  /\b(?:billing|payment|invoice|api[ _-]?keys?|credentials?(?!-)|access tokens?|credits?|balance|recharge|top ?up|subscription|upgrade|your (?:account|organi[sz]ation|plan|project|(?:current )?quota)|this (?:account|organi[sz]ation|project|key))\b|https?:\/\/\S*(?:account|billing|settings|console|dashboard|platform)|\u4f59\u989d|\u6b20\u8d39|\u8d26\u6237|\u8d26\u53f7|\u4ee4\u724c/i

/**
 * The same words, without the ids of the operator's account: in words about the request, which its client is
 * to have as they are. The text may be JSON, with its slashes escaped.
 */
export function maskAccountIds(words: string): string {
  return ids.reduce((text, id) => text.replace(id, '$1(account)'), words)
}

/** Where a word begins, also after an escape of JSON: `\n`, or `\u0027` for a quote. */
const begin = String.raw`(?:(?<![\w-])|(?<=\\(?:[nrtbf]|u[0-9a-fA-F]{4})))`
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** What is in the first group stays. */
const ids: readonly RegExp[] = [
  // OpenAI, Groq, and resellers. A name without a digit may be a function of the client.
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
