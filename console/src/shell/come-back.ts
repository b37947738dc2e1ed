import { useEffect, useRef } from 'react'
import { ApiError, api, ask, isReachable } from '../api/client.ts'

/** Whether what failed with this error may work a moment later, with nothing changed. */
export function mayComeBack(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 503)
}

/**
 * Calls `onBack` once the gateway answers again. Asks less and less often, and at once when the network
 * returns.
 */
export function useComeBack(error: unknown, onBack: () => void): void {
  const back = useRef(onBack)
  back.current = onBack
  useEffect(() => {
    if (!mayComeBack(error)) return
    const isBack = error.status === 0 ? isReachable : isAnswered
    let waitMs = pausesMs.least
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const look = async () => {
      clearTimeout(timer)
      const answers = await isBack()
      if (isOver) return
      if (answers) return back.current()
      waitMs = Math.min(waitMs * 2, pausesMs.most)
      timer = setTimeout(look, waitMs)
    }
    timer = setTimeout(look, waitMs)
    window.addEventListener('online', look)
    return () => {
      isOver = true
      clearTimeout(timer)
      window.removeEventListener('online', look)
    }
  }, [error])
}

/** Not only the gateway answers, but what it asks, too. */
async function isAnswered(): Promise<boolean> {
  try {
    await ask(api.GET('/admin/v1/session'))
    return true
  } catch (error) {
    return !mayComeBack(error)
  }
}

const pausesMs = { least: 2_000, most: 30_000 }
