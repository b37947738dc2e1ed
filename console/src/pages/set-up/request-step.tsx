import { Button, Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Snippets } from '../../parts/snippets.tsx'
import { gatewayUrl } from '../../site.ts'
import { agentSnippets } from '../../snippets/agents.ts'
import { curlSnippet } from '../../snippets/curl.ts'
import { sdkSnippets } from '../../snippets/sdks.ts'
import { AnswerView } from '../playground/answer-view.tsx'
import { useRun } from '../playground/use-run.ts'
import { type Facts, factsQuery } from './facts.ts'
import classes from './set-up.module.css'
import { isUsable } from './steps.ts'

/** The first request, by a button or by code. `secret`: of a key that was made a moment ago. */
export function RequestStep({ facts, secret }: { facts: Facts; secret: string | undefined }) {
  const client = useQueryClient()
  const { run, send } = useRun()
  const models = facts.models.filter(({ state, images }) => state === 'enabled' && images === null)
  const [wanted, setWanted] = useState<string | null>(null)
  const model = models.find(({ id }) => id === wanted) ?? models[0]
  const key = facts.keys.find(isUsable)
  if (model === undefined || key === undefined)
    return <p className={classes.hint}>It needs a model and a key: see the steps above.</p>
  const request = { model: model.id, stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  const endpoint = '/v1/chat/completions'
  const go = async () => {
    await send({ keyId: key.id, endpoint, request })
    await client.invalidateQueries({ queryKey: factsQuery.queryKey })
  }
  const source = { origin: gatewayUrl, endpoint, request, secret }
  const messages = { model: model.id, max_tokens: 1024, messages: request.messages }
  const codes = [
    curlSnippet(source),
    ...sdkSnippets(source),
    ...sdkSnippets({ ...source, endpoint: '/v1/messages', request: messages }).slice(0, 2),
  ]
  return (
    <div className={classes.done}>
      <div className={classes.form}>
        <Select
          label="Model"
          searchable
          data={models.map(({ id }) => id)}
          value={model.id}
          onChange={setWanted}
        />
        <Button size="sm" loading={run?.state === 'running'} onClick={() => void go()}>
          Send a first request
        </Button>
      </div>
      <p className={classes.hint}>
        It is a real request under the key {key.tenant} / {key.name}, and costs what it costs.
      </p>
      {run === undefined ? null : <AnswerView run={run} onAgain={() => void go()} />}
      <h3>By code</h3>
      <Snippets kind="sdk" snippets={codes} />
      <h3>By an agent</h3>
      <Snippets
        kind="agent"
        snippets={agentSnippets({
          origin: gatewayUrl,
          model: model.id,
          contextLength: model.context_length,
          secret,
        })}
      />
    </div>
  )
}
