import { Button, Group, Select, Stack } from '@mantine/core'
import { PlayIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { Code } from '../../parts/code.tsx'
import { Duration } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'

/** Asks the channel one small thing now, in each of its formats, and shows what came back. */
export function ChannelTest({
  id,
  models,
  title = 'Test it now',
}: {
  id: string
  models: readonly string[]
  title?: string
}) {
  const [model, setModel] = useState<string | null>(null)
  const test = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/admin/v1/channels/{id}/test', {
          params: { path: { id } },
          body: model === null ? {} : { model },
        }),
      ),
  })
  return (
    <Section
      title={title}
      actions={
        <>
          {models.length === 0 ? null : (
            <Select
              size="xs"
              aria-label="Model of the test"
              placeholder="Its first model"
              searchable
              clearable
              data={[...models]}
              value={model}
              onChange={setModel}
            />
          )}
          <Button leftSection={<PlayIcon size={14} />} loading={test.isPending} onClick={() => test.mutate()}>
            Test now
          </Button>
        </>
      }
    >
      {test.error === null ? null : <Problem error={test.error} doing="The test" />}
      {test.data === undefined ? (
        test.isIdle ? (
          <span className="tg-quiet">
            One small request for each format, with a row in the log. It may cost a few tokens.
          </span>
        ) : null
      ) : (
        <Stack gap={8}>
          {test.data.results.map((result) => (
            <Result key={result.protocol} result={result} />
          ))}
        </Stack>
      )}
    </Section>
  )
}

function Result({ result }: { result: Schema<'ChannelTest'>['results'][number] }) {
  const { protocol, upstream_model, ok, status, latency_ms, first_byte_ms, request_id, first_bytes, error } =
    result
  return (
    <Notice
      tone={ok ? 'good' : 'bad'}
      action={
        request_id === null ? undefined : (
          <Link to="/console/log/$id" params={{ id: request_id }}>
            Its row
          </Link>
        )
      }
    >
      <Group gap={8}>
        <strong>{protocol}</strong>
        <span>
          {upstream_model}: {status === null ? 'no answer' : `status ${status}`} after{' '}
          <Duration ms={latency_ms} />
          {first_byte_ms === null ? '' : ', first byte after '}
          {first_byte_ms === null ? null : <Duration ms={first_byte_ms} />}
        </span>
      </Group>
      {error === null ? null : (
        <div>
          {status === null ? '' : 'It says: '}
          {error}
        </div>
      )}
      {ok ? null : <div>{adviceOf(status)}</div>}
      {!ok || first_bytes === '' ? null : <Code text={first_bytes} what="the begin of the answer" />}
    </Notice>
  )
}

/** What the operator can change, by what the upstream answered. */
function adviceOf(status: number | null): string {
  if (status === null)
    return 'Check the base URL, and whether the machine of the gateway can reach it: its name, port, proxy and certificate.'
  if (status === 401 || status === 403)
    return 'Put a valid key under Credentials, or have the vendor allow its account this model.'
  if (status === 402)
    return 'The account at the vendor needs credit, or put a key of another one under Credentials.'
  if (status === 404)
    return "Check the base URL, and the model's name at the upstream under the models of the channel."
  if (status === 429)
    return 'The account is at its limit: wait, add a key under Credentials, or raise its limit at the vendor.'
  return status >= 500
    ? 'The vendor fails: see its status page, and add another channel for the model.'
    : 'The vendor refuses the request itself: check the format of the base URL, and what the channel says that the model accepts.'
}
