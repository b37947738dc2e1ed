import { Autocomplete, Button, SegmentedControl, Select, Switch, Textarea } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { type Session, useMay, useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Notice } from '../../parts/state.tsx'
import { gatewayUrl } from '../../site.ts'
import { curlSnippet } from '../../snippets/curl.ts'
import { sdkSnippets } from '../../snippets/sdks.ts'
import { AnswerView } from './answer-view.tsx'
import { isUsable, useKeys, useModels } from './choices.ts'
import {
  type Endpoint,
  endpointOf,
  endpoints,
  firstRequest,
  inFormat,
  kindOf,
  parseRequest,
  type RequestBody,
} from './formats.ts'
import { draftOf, useRow } from './from-log.ts'
import { useLastKey } from './last-key.ts'
import classes from './playground.module.css'
import { RequestForm } from './request-form.tsx'
import { useRun } from './use-run.ts'
import { Wires } from './wires.tsx'

/** A request that is being written. The text is the truth: the form reads and changes it. */
interface Draft {
  endpoint: Endpoint
  text: string
}

/** Each person's own: two may use one tab after each other. */
const userOf = ({ id, name }: Session) => id ?? name
const storedFor = (session: Session) => `tollgate.playground ${userOf(session)}`

export function PlaygroundPage() {
  const search = useSearch({ strict: false }) as Texts
  const navigate = useNavigate()
  const mayPlay = useMay()('playground', 'write')
  const session = useSession()
  const stored = storedFor(session)
  const [draft, setDraft] = useState<Draft>(() => firstDraft(search, stored))
  const [note, setNote] = useState<string>()
  const { run, version, send, cancel } = useRun()
  const [lastKey, keepLastKey] = useLastKey(userOf(session))
  const from = one(search.from)
  const wantedKey = one(search.key) ?? (from === undefined ? lastKey : undefined)
  const [typed, setTyped] = useState('')
  const [wanted] = useDebouncedValue(typed, 200)
  const chosenKey = useKeys('', wantedKey).keys.find(({ id }) => id === wantedKey)
  const found = useKeys(wanted === labelOf(chosenKey) ? '' : wanted, wantedKey)
  // Nobody pays who was not chosen: a key that is not there, or that works no more, is asked for anew.
  const key = found.keys.find((key) => key.id === wantedKey && isUsable(key))
  const keyId = key?.id
  const { models } = useModels(key, draft.endpoint)
  const read = parseRequest(draft.text)
  const request = 'request' in read ? read.request : undefined
  const model = typeof request?.model === 'string' ? request.model : ''

  const put = (next: RequestBody, endpoint = draft.endpoint) =>
    setDraft({ endpoint, text: JSON.stringify(next, null, 2) })
  useFilledFrom(from, (next, words) => {
    if (next !== undefined) put(next.request, next.endpoint)
    setNote(words)
  })

  const firstModel = models[0]
  useEffect(() => {
    if (model !== '' || firstModel === undefined) return
    // A row of the log may have filled the draft since this page was drawn.
    setDraft((now) => {
      const read = parseRequest(now.text)
      if ('error' in read || (read.request.model ?? '') !== '') return now
      return { ...now, text: JSON.stringify({ ...read.request, model: firstModel }, null, 2) }
    })
  }, [firstModel, model])
  useEffect(() => {
    const timer = setTimeout(() => {
      void navigate({
        to: '.',
        search: (now: Texts) => ({
          ...now,
          endpoint: draft.endpoint,
          ...(model === '' ? {} : { model }),
          ...(keyId === undefined || now.key !== undefined ? {} : { key: keyId }),
        }),
        replace: true,
      } as never)
    }, 400)
    return () => clearTimeout(timer)
  }, [draft.endpoint, model, keyId, navigate])

  const isRunning = run?.state === 'running'
  const canSend = mayPlay && request !== undefined && keyId !== undefined && model !== ''
  const go = () => {
    if (!canSend || request === undefined || keyId === undefined) return
    sessionStorage.setItem(stored, JSON.stringify(draft))
    void send({ keyId, endpoint: draft.endpoint, request })
    // In a narrow window the answer stands below the request.
    if (window.innerWidth <= 1000) document.getElementById('answer')?.scrollIntoView({ block: 'start' })
  }
  useHotkeys([['mod+Enter', go]], [], true)

  const choose = (path: string | null) => {
    const endpoint = endpointOf(path)
    if (endpoint === undefined || endpoint === draft.endpoint) return
    if (request === undefined) return put(firstRequest(endpoint, ''), endpoint)
    const { request: next, lost } = inFormat(draft.endpoint, endpoint, request)
    const fits = kindOf(endpoint) === kindOf(draft.endpoint)
    put(fits ? next : { ...next, model: '' }, endpoint)
    setNote(
      lost.length === 0 ? undefined : `Left out, because only the former format has it: ${lost.join(', ')}.`,
    )
  }

  if (!found.isPending && found.error === null && found.keys.length === 0 && typed === '')
    return (
      <Page title="Playground">
        <EmptyState title="No key yet">
          A request is made under a key. When there is one, you can try any of its models here, without its
          secret.
        </EmptyState>
      </Page>
    )
  return (
    <Page
      title="Playground"
      lead="A real request under a key. It has a row in the log, and costs what it costs."
    >
      <div className={classes.choices}>
        <Select
          label="Key"
          placeholder={found.isPending ? 'Reading…' : 'Choose a key'}
          searchable
          data={found.keys.map((one) => ({ value: one.id, label: labelOf(one) }))}
          value={keyId ?? null}
          onSearchChange={setTyped}
          nothingFoundMessage="No such key"
          onChange={(id) => {
            if (id === null) return
            keepLastKey(id)
            void navigate({ to: '.', search: (now: Texts) => ({ ...now, key: id }), replace: true } as never)
          }}
        />
        <Autocomplete
          label="Model"
          placeholder="A model's id"
          data={models}
          value={model}
          limit={50}
          disabled={request === undefined}
          onChange={(id) => request !== undefined && put({ ...request, model: id })}
        />
        <Select
          label="Format"
          data={endpoints.map(({ path, title }) => ({ value: path, label: title }))}
          value={draft.endpoint}
          onChange={choose}
        />
        {kindOf(draft.endpoint) === 'embedding' ? null : (
          <Switch
            label="Stream"
            mb={8}
            checked={request?.stream === true}
            disabled={request === undefined}
            onChange={({ currentTarget }) => {
              if (request === undefined) return
              const { stream: _, ...rest } = request
              put(currentTarget.checked ? { ...rest, stream: true } : rest)
            }}
          />
        )}
        {isRunning ? (
          <Button size="sm" variant="default" onClick={cancel}>
            Cancel the request
          </Button>
        ) : (
          <Button size="sm" onClick={go} disabled={!canSend} title="Ctrl+Enter">
            Send the request
          </Button>
        )}
      </div>
      <p className={classes.payer}>
        {key === undefined ? (
          'Choose a key: its tenant pays for the request.'
        ) : (
          <>
            <strong>{key.tenant}</strong> pays for each request: it is made under its key {key.name}.
          </>
        )}
      </p>
      {found.error === null ? null : <Problem error={found.error} onAgain={found.again} doing="Keys" />}
      {mayPlay ? null : <Notice tone="quiet">Your role may look at this page, and send nothing.</Notice>}
      {note === undefined ? null : (
        <Notice
          tone="warning"
          action={
            <Button variant="default" onClick={() => setNote(undefined)}>
              Hide
            </Button>
          }
        >
          {note}
        </Notice>
      )}
      <div className={classes.sides}>
        <RequestSide draft={draft} onText={(text) => setDraft({ ...draft, text })} onRequest={put} />
        <div id="answer">
          <Section title="Answer">
            {run === undefined ? (
              <div className={classes.empty}>
                The answer comes here, while it is written. Send the request with Ctrl+Enter.
              </div>
            ) : (
              <AnswerView run={run} onAgain={go} />
            )}
          </Section>
        </div>
      </div>
      {run === undefined ? null : <Wires run={run} version={version} />}
    </Page>
  )
}

function RequestSide({
  draft,
  onText,
  onRequest,
}: {
  draft: Draft
  onText(text: string): void
  onRequest(request: RequestBody): void
}) {
  const [view, setView] = useState('form')
  const read = parseRequest(draft.text)
  return (
    <Section
      title="Request"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How the request is shown"
          value={view}
          onChange={setView}
          data={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
            { value: 'code', label: 'As code' },
          ]}
        />
      }
    >
      {view === 'json' ? (
        <Textarea
          aria-label={`JSON of the request to ${draft.endpoint}`}
          classNames={{ input: classes.mono ?? '' }}
          value={draft.text}
          autosize
          minRows={12}
          maxRows={32}
          spellCheck={false}
          error={
            'error' in read
              ? `${read.line === undefined ? '' : `Line ${read.line}: `}${read.error}`
              : undefined
          }
          onChange={({ currentTarget }) => onText(currentTarget.value)}
        />
      ) : 'error' in read ? (
        <Notice tone="warning">The JSON of the request has a mistake. Correct it under "JSON" first.</Notice>
      ) : view === 'form' ? (
        <RequestForm endpoint={draft.endpoint} request={read.request} onChange={onRequest} />
      ) : (
        <Code endpoint={draft.endpoint} request={read.request} />
      )}
    </Section>
  )
}

function Code({ endpoint, request }: { endpoint: Endpoint; request: RequestBody }) {
  const source = { origin: gatewayUrl, endpoint, request }
  return <Snippets kind="sdk" snippets={[curlSnippet(source), ...sdkSnippets(source)]} />
}

/** Fills the playground from a row of the log, once. */
function useFilledFrom(
  id: string | undefined,
  fill: (draft: { endpoint: Endpoint; request: RequestBody } | undefined, words: string | undefined) => void,
): void {
  const row = useRow(id)
  const navigate = useNavigate()
  const [filled, setFilled] = useState<string>()
  useEffect(() => {
    if (id === undefined || filled === id) return
    if (row.error !== null) {
      setFilled(id)
      fill(undefined, `The request ${id} cannot be read: ${row.error.message}`)
    }
    if (row.data === undefined) return
    setFilled(id)
    const { endpoint, request, lacks } = draftOf(row.data)
    fill(endpoint === undefined || request === undefined ? undefined : { endpoint, request }, lacks)
    const key = row.data.key_id
    void navigate({
      to: '.',
      search: ({ from: _, ...now }: Texts) => ({ ...now, ...(key === null ? {} : { key }) }),
      replace: true,
    } as never)
  }, [id, filled, row.data, row.error, fill, navigate])
}

/** By the address; then what was sent last in this tab; then a greeting. */
function firstDraft(search: Texts, stored: string): Draft {
  const asked = endpointOf(one(search.endpoint))
  const model = one(search.model)
  const last = lastDraft(stored)
  if (last !== undefined && (asked === undefined || asked === last.endpoint)) {
    const read = parseRequest(last.text)
    if (model === undefined || !('request' in read)) return last
    return { ...last, text: JSON.stringify({ ...read.request, model }, null, 2) }
  }
  const endpoint = asked ?? '/v1/chat/completions'
  return { endpoint, text: JSON.stringify(firstRequest(endpoint, model ?? ''), null, 2) }
}

function lastDraft(stored: string): Draft | undefined {
  const read = parseRequest(sessionStorage.getItem(stored) ?? '')
  if (!('request' in read)) return undefined
  const endpoint = endpointOf(read.request.endpoint)
  const { text } = read.request
  return endpoint === undefined || typeof text !== 'string' ? undefined : { endpoint, text }
}

function labelOf(key: Schema<'Key'> | undefined): string {
  return key === undefined ? '' : `${key.tenant} / ${key.name}`
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
