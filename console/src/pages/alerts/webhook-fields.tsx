import { Select, SimpleGrid, TextInput } from '@mantine/core'
import classes from './alerts.module.css'
import { type Format, formatFor, formatNames } from './webhook-format.ts'

/** Inputs of one row stand at one height, however long their descriptions are. */
export const wrapperOrder: ('label' | 'input' | 'description' | 'error')[] = [
  'label',
  'input',
  'description',
  'error',
]

const examples: Readonly<Record<Format, string>> = {
  tollgate: 'https://hooks.example.com/tollgate',
  slack: 'https://hooks.slack.com/services/...',
  teams: 'https://....api.powerplatform.com/...',
}

const advice: Readonly<Record<Format, string>> = {
  tollgate: 'Leave empty to see alerts only in the console.',
  slack: 'In Slack: your app, Incoming Webhooks, Add New Webhook. Copy its URL.',
  teams: 'In Teams: Workflows, "When a Teams webhook request is received". Copy its URL.',
}

/** The address of a webhook, and the product that it belongs to, which the address tells if it can. */
export function WebhookAddress({
  url,
  format,
  host,
  error,
  onChange,
}: {
  url: string
  format: Format
  /** Of the webhook that there is; undefined: there is none. */
  host?: string | undefined
  error: string | undefined
  onChange(webhook: { url: string; format: Format }): void
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12} className={classes.webhook ?? ''}>
      <TextInput
        label="Webhook URL"
        inputWrapperOrder={wrapperOrder}
        description={host === undefined ? advice[format] : `Now: ${host}. Leave empty to keep it.`}
        placeholder={examples[format]}
        value={url}
        error={error}
        onChange={(event) => {
          const next = event.currentTarget.value
          onChange({ url: next, format: formatFor(next) ?? format })
        }}
      />
      <Select
        label="Message format"
        disabled={host !== undefined && url.trim() === ''}
        data={Object.entries(formatNames).map(([value, label]) => ({ value, label }))}
        value={format}
        onChange={(next) => onChange({ url, format: (next ?? 'tollgate') as Format })}
      />
    </SimpleGrid>
  )
}
