import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { type PartState, toldOnce } from './failed-parts.ts'
import { Problem } from './problem.tsx'

/** What a part of a page reads: a query of it. */
interface Reading {
  error: unknown
  data: unknown
  /** `data` is that of another question, such as the time before, until this one is answered. */
  isPlaceholderData?: boolean
  /** `idle` before the first answer: nothing asks for it. */
  fetchStatus: 'fetching' | 'paused' | 'idle'
  refetch(): unknown
}

interface Registry {
  report(name: string, part: PartState | undefined): void
  /** Names of the parts of which the page speaks, or which wait to see whether it will. */
  silent: ReadonlySet<string>
  isTelling: boolean
}

const nobody: Registry = { report: () => {}, silent: new Set(), isTelling: false }
const Context = createContext(nobody)

/**
 * The parts of a page. What several of them cannot read for one reason is said once, above them, and not by
 * each.
 */
export function PageParts({ children }: { children: ReactNode }) {
  const [parts, setParts] = useState<ReadonlyMap<string, PartState>>(new Map())
  const [isTelling, setTelling] = useState(false)
  const { told, silent } = useMemo(() => toldOnce(parts, isTelling), [parts, isTelling])
  if (told.length > 0 !== isTelling) setTelling(!isTelling)
  // It stays the same: parts report when they change, and not because another one did.
  const report = useCallback((name: string, part: PartState | undefined) => {
    setParts((before) => {
      const after = new Map(before)
      if (part === undefined) after.delete(name)
      else after.set(name, part)
      return after
    })
  }, [])
  const registry = useMemo(() => ({ silent, isTelling, report }), [silent, isTelling, report])
  return (
    <Context value={registry}>
      {told.map(({ what, error, again }) => (
        <Problem key={what} error={error} doing={what} onAgain={again} />
      ))}
      {children}
    </Context>
  )
}

/**
 * What is shown instead of a part that cannot be read: its problem; null where the page says it; undefined:
 * it can be read, or waits, if only for what the page will say. A part that has failed stays so until it is
 * answered, or the reader asks again: a live page asks a new question at each tick, and its message must not
 * come and go with them. `name`: "the numbers", "spend by model".
 */
export function usePart(name: string, reading: Reading): ReactNode | undefined {
  const { report, silent, isTelling } = useContext(Context)
  const [failure, setFailure] = useState<unknown>(null)
  const { fetchStatus, refetch } = reading
  const isAnswered = reading.data !== undefined && reading.isPlaceholderData !== true
  const error = reading.error ?? (isAnswered || fetchStatus === 'idle' ? null : failure)
  if (error !== failure) setFailure(error)
  const again = useRef(() => {})
  again.current = () => {
    setFailure(null)
    void refetch()
  }
  const state =
    error !== null
      ? 'failed'
      : reading.data !== undefined
        ? 'ready'
        : fetchStatus === 'idle'
          ? undefined
          : 'waiting'
  useEffect(() => {
    report(name, state === undefined ? undefined : { state, error, again: () => again.current() })
  }, [report, name, state, error])
  useEffect(() => () => report(name, undefined), [report, name])
  if (state !== 'failed') return undefined
  if (silent.has(name)) return isTelling ? null : undefined
  return <Problem error={error} doing={capital(name)} onAgain={() => again.current()} />
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
