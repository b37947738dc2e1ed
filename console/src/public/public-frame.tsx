import { Kbd, UnstyledButton } from '@mantine/core'
import { SearchIcon } from '@primer/octicons-react'
import { Link, Outlet, useNavigate } from '@tanstack/react-router'
import { Suspense, useEffect, useState } from 'react'
import { isTyping } from '../parts/typing.ts'
import { Waiting } from '../shell/waiting.tsx'
import { site } from '../site.ts'
import { SearchDialog } from './docs/search-dialog.tsx'
import classes from './public-frame.module.css'
import { SchemeSwitch } from './scheme-switch.tsx'

/** What appears around each page that needs no account. */
export function PublicFrame() {
  const [isSearching, setIsSearching] = useState(false)
  const hasDocs = site.pages.includes('docs')
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      // A page with a search of its own, such as the models'.
      const own = document.querySelector<HTMLInputElement>('[data-page-search]')
      if (own === null && !hasDocs) return
      event.preventDefault()
      if (own === null) setIsSearching(true)
      else own.focus()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [hasDocs])
  return (
    <div className={classes.frame}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.bar}>
        <Name />
        <nav className={classes.places} aria-label="Site">
          {site.pages.includes('models') ? <Place to="/models">Models</Place> : null}
          {hasDocs ? <Place to="/docs">Docs</Place> : null}
          {site.pages.includes('console') ? <Place to="/console">Console</Place> : null}
        </nav>
        <div className={classes.tools}>
          {hasDocs ? (
            <UnstyledButton className={classes.search} onClick={() => setIsSearching(true)}>
              <SearchIcon size={16} aria-hidden />
              <span>Search the docs</span>
              <Kbd size="xs" aria-hidden>
                /
              </Kbd>
            </UnstyledButton>
          ) : null}
          <SchemeSwitch />
        </div>
      </header>
      <main id="main" className={classes.main} tabIndex={-1}>
        <Suspense fallback={<Waiting />}>
          <Outlet />
        </Suspense>
      </main>
      {isSearching ? (
        <SearchDialog
          onClose={() => setIsSearching(false)}
          onGo={(to) => {
            setIsSearching(false)
            void navigate({ to })
          }}
        />
      ) : null}
    </div>
  )
}

function Name() {
  const shown = (
    <>
      <img src={site.logo ?? '/site/icon'} alt="" height={20} />
      <span>{site.name}</span>
    </>
  )
  return site.pages.includes('home') ? (
    <Link to="/" className={classes.name}>
      {shown}
    </Link>
  ) : (
    <span className={classes.name}>{shown}</span>
  )
}

function Place({ to, children }: { to: '/models' | '/docs' | '/console'; children: string }) {
  return (
    <Link
      to={to}
      className={classes.place}
      activeProps={{ 'data-here': true }}
      activeOptions={{ includeSearch: false }}
      // The console is another program: it comes when it is asked for.
      preload={to === '/console' ? false : 'intent'}
    >
      {children}
    </Link>
  )
}
