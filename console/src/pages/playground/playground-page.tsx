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
import { type Draft, one, useDraft } from './draft.ts'
import { type Endpoint, endpoints, kindOf, parseRequest, type RequestBody } from './formats.ts'
import { useLastKey } from './last-key.ts'
import classes from './playground.module.css'
import { RequestForm } from './request-form.tsx'
import { useRun } from './use-run.ts'
import { Wires } from './wires.tsx'

/** Each person's own: two may use one tab after each other. */
const userOf = ({ id, name }: Session) => id ?? name
const storedFor = (session: Session) => `tollgate.playground ${userOf(session)}`

export function PlaygroundPage() {
  const search = useSearch({ strict: false }) as Texts
  const mayPlay = useMay()('playground', 'write')
  const session = useSession()
  const writing = useDraft(search, storedFor(session))
  const { draft, request, model, put, nameModel, note } = writing
  const { run, version, send, cancel } = useRun()
  const payer = usePayer(search, userOf(session))
  const { found, key } = payer
  const keyId = key?.id
  const { models } = useModels(key, draft.endpoint)
  const firstModel = models[0]
  useEffect(() => {
    if (model === '' && firstModel !== undefined) nameModel(firstModel)
  }, [firstModel, model, nameModel])
  useWrittenAddress(draft.endpoint, model, keyId)

  const canSend = mayPlay && request !== undefined && keyId !== undefined && model !== ''
  const go = () => {
    if (!canSend || request === undefined || keyId === undefined) return
    writing.keep()
    void send({ keyId, endpoint: draft.endpoint, request })
    // In a narrow window the answer appears below the request.
    if (window.innerWidth <= 1000) document.getElementById('answer')?.scrollIntoView({ block: 'start' })
  }
  useHotkeys([['mod+Enter', go]], [], true)

  if (payer.isNone)
    return (
      <Page title="Playground">
        <EmptyState title="No key yet">
          A request is made under a key. When there is one, you can try any of its models here, without its
          secret.
        </EmptyState>
      </Page>
    )
  return (
    <Page title="Playground" lead="Sends a real request with this key. It is logged and billed.">
      <div className={classes.choices}>
        <Choices payer={payer} writing={writing} models={models} />
        {run?.state === 'running' ? (
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
            <Button variant="default" onClick={writing.hideNote}>
              Hide
            </Button>
          }
        >
          {note}
        </Notice>
      )}
      <div className={classes.sides}>
        <RequestSide draft={draft} onText={writing.putText} onRequest={put} />
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

type Writing = ReturnType<typeof useDraft>
type Payer = ReturnType<typeof usePayer>

/** The key that pays: that of the address, else the one that this user chose last. */
function usePayer(search: Texts, user: string) {
  const navigate = useNavigate()
  const [lastKey, keepLastKey] = useLastKey(user)
  const wantedKey = one(search.key) ?? (one(search.from) === undefined ? lastKey : undefined)
  const [typed, setTyped] = useState('')
  const [wanted] = useDebouncedValue(typed, 200)
  const chosenKey = useKeys('', wantedKey).keys.find(({ id }) => id === wantedKey)
  const found = useKeys(wanted === labelOf(chosenKey) ? '' : wanted, wantedKey)
  return {
    found,
    // Only a key that was chosen pays: one that is not there, or that works no more, is asked for anew.
    key: found.keys.find((key) => key.id === wantedKey && isUsable(key)),
    isNone: !found.isPending && found.error === null && found.keys.length === 0 && typed === '',
    search: setTyped,
    choose(id: string | null) {
      if (id === null) return
      keepLastKey(id)
      void navigate({ to: '.', search: (now: Texts) => ({ ...now, key: id }), replace: true } as never)
    },
  }
}

/** The address says what is chosen, a moment after it was. */
function useWrittenAddress(endpoint: Endpoint, model: string, keyId: string | undefined): void {
  const navigate = useNavigate()
  useEffect(() => {
    const timer = setTimeout(() => {
      void navigate({
        to: '.',
        search: (now: Texts) => ({
          ...now,
          endpoint,
          ...(model === '' ? {} : { model }),
          ...(keyId === undefined || now.key !== undefined ? {} : { key: keyId }),
        }),
        replace: true,
      } as never)
    }, 400)
    return () => clearTimeout(timer)
  }, [endpoint, model, keyId, navigate])
}

/** Under which key, of which model, in which format, and whether it is streamed. */
function Choices({
  payer: { found, key, search, choose },
  writing: { draft, request, model, put, choose: chooseFormat },
  models,
}: {
  payer: Payer
  writing: Writing
  models: string[]
}) {
  return (
    <>
      <Select
        label="Key"
        placeholder={found.isPending ? 'Reading…' : 'Choose a key'}
        searchable
        data={found.keys.map((one) => ({ value: one.id, label: labelOf(one) }))}
        value={key?.id ?? null}
        onSearchChange={search}
        nothingFoundMessage="No such key"
        onChange={choose}
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
        onChange={chooseFormat}
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
    </>
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

function labelOf(key: Schema<'Key'> | undefined): string {
  return key === undefined ? '' : `${key.tenant} / ${key.name}`
}
