import { useCallback, useEffect, useRef, useState } from 'react'
import type { Endpoint, RequestBody } from './formats.ts'
import { type Run, runRequest } from './run.ts'

/** Often enough for the eye, and seldom enough for an answer of 4 MiB. */
const paintMs = 80

/** One request at a time. The page is told of a run every 80 ms, however many pieces come. */
export function useRun() {
  const [shown, show] = useState<{ run: Run } | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const cancel = useCallback(() => controller.current?.abort(), [])
  const send = useCallback(async (asked: { keyId: string; endpoint: Endpoint; request: RequestBody }) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    const tell = (run: Run) => {
      if (controller.current !== own) return
      if (run.state !== 'running') {
        clearTimeout(timer.current)
        timer.current = undefined
        show({ run })
      } else
        timer.current ??= setTimeout(() => {
          timer.current = undefined
          if (controller.current === own) show({ run })
        }, paintMs)
    }
    return await runRequest(asked, { signal: own.signal, tell })
  }, [])

  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
      controller.current?.abort()
    },
    [],
  )
  return { run: shown?.run, version: shown, send, cancel }
}
