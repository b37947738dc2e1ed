import { type AlertWebhook, alertWebhook } from './alert-webhook.ts'

/** The products whose incoming webhooks a rule can call, and our own shape. */
export const webhookFormats = ['tollgate', 'slack', 'teams'] as const
export type WebhookFormat = (typeof webhookFormats)[number]

/** Reads the column of a rule. */
export function webhookFormat(stored: string | null): WebhookFormat {
  return webhookFormats.find((format) => format === stored) ?? 'tollgate'
}

/**
 * The JSON that is sent for a message. `publicUrl` is the address of the gateway: people who read the message
 * in Slack or Teams get a link to the episode in its console.
 */
export function messageText(
  format: WebhookFormat,
  webhook: AlertWebhook,
  publicUrl: string | undefined,
): string {
  switch (format) {
    case 'tollgate':
      return JSON.stringify(alertWebhook.parse(webhook))
    case 'slack':
      return JSON.stringify(slackMessage(webhook, linkOf(webhook, publicUrl)))
    case 'teams':
      return JSON.stringify(teamsMessage(webhook, linkOf(webhook, publicUrl)))
  }
}

function linkOf({ data }: AlertWebhook, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || data.episode_id === null) return undefined
  return `${publicUrl.replace(/\/+$/, '')}/console/alerts/${data.episode_id}`
}

/**
 * The body of Slack's incoming webhooks
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). `text` is what
 * notifications show. Slack reads markup in it, so it is escaped
 * (https://docs.slack.dev/messaging/formatting-message-text). The blocks are plain text: names of clients in
 * them mention nobody and link nowhere. Texts are cut to the limits of a header
 * (https://docs.slack.dev/reference/block-kit/blocks/header-block, 150 characters) and of a section
 * (https://docs.slack.dev/reference/block-kit/blocks/section-block, 3000).
 */
function slackMessage(webhook: AlertWebhook, link: string | undefined) {
  const { summary } = webhook.data
  const plain = (text: string, most: number) => ({
    type: 'plain_text',
    text: cut(text, most),
    emoji: false,
  })
  return {
    text: cut(`${headlineOf(webhook)}: ${summary}`, 2000).replace(/[&<>]/g, (sign) => escapes[sign] ?? sign),
    blocks: [
      { type: 'header', text: plain(headlineOf(webhook), 150) },
      { type: 'section', text: plain(summary, 3000) },
      {
        type: 'context',
        elements: factsOf(webhook).map(([name, value]) => plain(`${name}: ${value}`, 300)),
      },
      ...(link === undefined
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${link}|Open in Tollgate>` } }]),
    ],
  }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * The body of a webhook of Teams' Workflows: a message with one Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using,
 * https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook). Version 1.2 of cards is what all
 * Teams clients show. A `TextRun` has no markup, a `TextBlock` would read Markdown in names of clients
 * (https://adaptivecards.io/explorer/TextRun.html). A message has at most 28 KB.
 */
function teamsMessage(webhook: AlertWebhook, link: string | undefined) {
  const run = (text: string, most: number, look: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: cut(text, most), ...look }],
  })
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            run(headlineOf(webhook), 300, { size: 'Medium', weight: 'Bolder', color: colours[webhook.type] }),
            run(webhook.data.summary, 3000),
            ...factsOf(webhook).map(([name, value]) => run(`${name}: ${value}`, 300, { isSubtle: true })),
          ],
          ...(link === undefined
            ? {}
            : { actions: [{ type: 'Action.OpenUrl', title: 'Open in Tollgate', url: link }] }),
          msteams: { width: 'Full' },
        },
      },
    ],
  }
}

const colours = { 'alert.opened': 'Attention', 'alert.closed': 'Good', 'alert.test': 'Accent' } as const
const states = { 'alert.opened': 'Alert', 'alert.closed': 'Resolved', 'alert.test': 'Test' } as const

function headlineOf({ type, data }: AlertWebhook): string {
  return `${states[type]}: ${data.rule.name}`
}

function factsOf({ data }: AlertWebhook): [string, string][] {
  const { name, value, opened_at, closed_at } = data
  const facts: [string, string | null][] = [
    ['Subject', name],
    ['Value', value],
    ['Opened', opened_at],
    ['Closed', closed_at],
  ]
  return facts.flatMap(([title, fact]) => (fact === null || fact === '' ? [] : [[title, fact]]))
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text
}
