import { Button, Text } from '@mantine/core'
import { ApiError } from '../api/client.ts'
import { Copy } from './copy.tsx'
import { Notice } from './state.tsx'

/** What went wrong, why, what to do, and the id by which the gateway's own log has it. */
export function Problem({ error, onAgain, doing }: { error: unknown; onAgain?: () => void; doing?: string }) {
  const { title, detail, requestId } = wordsOf(error)
  return (
    <Notice
      tone="bad"
      action={
        onAgain === undefined ? undefined : (
          <Button variant="default" onClick={onAgain}>
            Try again
          </Button>
        )
      }
    >
      <Text component="div" fw={600}>
        {doing === undefined ? title : `${doing}: ${title.toLowerCase()}`}
      </Text>
      <div>{detail}</div>
      {requestId === undefined ? null : (
        <Text component="div" c="dimmed" fz={12}>
          Request {requestId} <Copy text={requestId} what="the request id" />
        </Text>
      )}
    </Notice>
  )
}

function wordsOf(error: unknown): { title: string; detail: string; requestId: string | undefined } {
  if (error instanceof ApiError)
    return { title: error.title, detail: error.message, requestId: error.requestId }
  return {
    title: 'This page has a fault',
    detail: error instanceof Error ? error.message : String(error),
    requestId: undefined,
  }
}
