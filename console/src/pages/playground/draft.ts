import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import type { Texts } from '../../console-search.ts'
import {
  type Endpoint,
  endpointOf,
  firstRequest,
  inFormat,
  kindOf,
  parseRequest,
  type RequestBody,
} from './formats.ts'
import { draftOf, useRow } from './from-log.ts'

/** A request that is being written. The text is the truth: the form reads and changes it. */
export interface Draft {
  endpoint: Endpoint
  text: string
}

/**
 * The draft of the page, with what changed it other than its writer: `note`. `stored`: the name that `keep`
 * keeps it by.
 */
export function useDraft(search: Texts, stored: string) {
  const [draft, setDraft] = useState<Draft>(() => firstDraft(search, stored))
  const [note, setNote] = useState<string>()
  const read = parseRequest(draft.text)
  const request = 'request' in read ? read.request : undefined
  const put = (next: RequestBody, endpoint = draft.endpoint) =>
    setDraft({ endpoint, text: JSON.stringify(next, null, 2) })
  useFilledFrom(one(search.from), (next, words) => {
    if (next !== undefined) put(next.request, next.endpoint)
    setNote(words)
  })
  /** A request that names no model asks for this one. */
  const nameModel = useCallback((first: string) => {
    // A row of the log may have filled the draft since this page was drawn.
    setDraft((now) => {
      const read = parseRequest(now.text)
      if ('error' in read || (read.request.model ?? '') !== '') return now
      return { ...now, text: JSON.stringify({ ...read.request, model: first }, null, 2) }
    })
  }, [])
  return {
    draft,
    /** Undefined: the text has a mistake. */
    request,
    model: typeof request?.model === 'string' ? request.model : '',
    put,
    putText: (text: string) => setDraft({ ...draft, text }),
    note,
    hideNote: () => setNote(undefined),
    /** In another format, as far as that has what is written. */
    choose(path: string | null) {
      const endpoint = endpointOf(path)
      if (endpoint === undefined || endpoint === draft.endpoint) return
      if (request === undefined) return put(firstRequest(endpoint, ''), endpoint)
      const { request: next, lost } = inFormat(draft.endpoint, endpoint, request)
      const fits = kindOf(endpoint) === kindOf(draft.endpoint)
      put(fits ? next : { ...next, model: '' }, endpoint)
      setNote(
        lost.length === 0
          ? undefined
          : `Left out, because only the former format has it: ${lost.join(', ')}.`,
      )
    },
    nameModel,
    keep: () => sessionStorage.setItem(stored, JSON.stringify(draft)),
  }
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

export function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
