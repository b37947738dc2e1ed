import type { Schema } from '../../api/client.ts'

/** The shape of a webhook's messages. */
export type Format = NonNullable<Schema<'AlertRule'>['webhook']>['format']

export const formatNames: Readonly<Record<Format, string>> = {
  tollgate: 'JSON, signed',
  slack: 'Slack',
  teams: 'Microsoft Teams',
}

/** The product that an address belongs to; undefined: any. */
export function formatFor(url: string): Format | undefined {
  const host = URL.canParse(url.trim()) ? new URL(url.trim()).hostname : ''
  if (/(^|\.)hooks\.slack\.com$/.test(host) || host === 'hooks.slack-gov.com') return 'slack'
  if (/\.(api\.powerplatform\.com|logic\.azure\.com|webhook\.office\.com)$/.test(host)) return 'teams'
  return undefined
}

/** What is wrong with an address, before the API is asked. Empty is right. */
export function urlFault(url: string): string | undefined {
  const text = url.trim()
  const isRight = text === '' || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
  return isRight ? undefined : 'Write a URL that begins with https:// or http://.'
}
