import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMay, useSession } from '../api/session.ts'
import { isTyping } from '../parts/typing.ts'
import { placesOf } from './navigation.ts'

const goMs = 1_500

/** The keys of every page: `?`, `G` and a letter, `Cmd/Ctrl+K`. Those of a page are its own. */
export function useConsoleKeys({ openPalette, openHelp }: { openPalette(): void; openHelp(): void }): void {
  const navigate = useNavigate()
  const may = useMay()
  const { role } = useSession()
  const wentAt = useRef<number | undefined>(undefined)
  useHotkeys([['mod+K', openPalette]], [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === '?') return openHelp()
      const isSecond = wentAt.current !== undefined && event.timeStamp - wentAt.current < goMs
      wentAt.current = event.key === 'g' && !isSecond ? event.timeStamp : undefined
      if (!isSecond) return
      const place = placesOf(may, role)
        .flatMap(({ places }) => places)
        .find(({ key }) => key === event.key)
      if (place === undefined) return
      event.preventDefault()
      // The key is not a key of the page itself.
      event.stopImmediatePropagation()
      void navigate({ to: place.to })
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [navigate, openHelp, may, role])
}
