import { Button, Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Snippets } from '../../parts/snippets.tsx'
import { gatewayUrl } from '../../site.ts'
import { agentSnippets } from '../../snippets/agents.ts'
import { AnswerView } from '../playground/answer-view.tsx'
import { modelsFor } from '../playground/choices.ts'
import { firstSnippets } from '../playground/first-snippets.ts'
import { firstRequest } from '../playground/formats.ts'
import { useRun } from '../playground/use-run.ts'
import { type Facts, factsQuery } from './facts.ts'
import classes from './set-up.module.css'
import { firstModel, isUsable } from './steps.ts'

const endpoint = '/v1/chat/completions'

/** The first request, by a button or by code. `secret`: of a key that was made a moment ago. */
export function RequestStep({ facts, secret }: { facts: Facts; secret: string | undefined }) {
  const client = useQueryClient()
  const { run, send } = useRun()
  const key = facts.keys.find(isUsable)
  const group = facts.groups.find(({ id }) => id === key?.group_id)
  const models = modelsFor(facts.models, [group?.models, key?.allowed_models], endpoint)
  const [wanted, setWanted] = useState<string | null>(null)
  const model = models.find((id) => id === wanted) ?? firstModel(facts, models)
  if (model === undefined || key === undefined)
    return <p className={classes.hint}>It needs a model and a key: see the steps above.</p>
  const go = async () => {
    await send({ keyId: key.id, endpoint, request: firstRequest(endpoint, model) })
    await client.invalidateQueries({ queryKey: factsQuery.queryKey })
  }
  return (
    <div className={classes.done}>
      <div className={classes.form}>
        <Select label="Model" searchable data={models} value={model} onChange={setWanted} />
        <Button size="sm" loading={run?.state === 'running'} onClick={() => void go()}>
          Send a first request
        </Button>
      </div>
      <p className={classes.hint}>
        Sends a real request with the key {key.tenant} / {key.name}. It is logged and billed.
      </p>
      {run === undefined ? null : <AnswerView run={run} onAgain={() => void go()} />}
      <h3>By code</h3>
      <Snippets kind="sdk" snippets={firstSnippets(gatewayUrl, model, secret)} />
      <h3>By an agent</h3>
      <Snippets
        kind="agent"
        snippets={agentSnippets({
          origin: gatewayUrl,
          model,
          contextLength: facts.models.find(({ id }) => id === model)?.context_length,
          secret,
        })}
      />
    </div>
  )
}
