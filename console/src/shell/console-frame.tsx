import { ActionIcon, Burger, Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure, useNetwork } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { Link, Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { useMay, useSession } from '../api/session.ts'
import { zoneName } from '../format/moments.ts'
import { Notice } from '../parts/state.tsx'
import { site } from '../site.ts'
import classes from './console-frame.module.css'
import { type AskedPalette, FindAnything } from './find-anything.tsx'
import { ForReaders } from './for-readers.tsx'
import { useConsoleKeys } from './keys.ts'
import { placesOf } from './navigation.ts'
import { Waiting } from './waiting.tsx'
import { WhoMenu } from './who-menu.tsx'

/** Loaded when somebody first asks for them: the first page needs none of them. */
const KeysHelp = lazy(async () => ({ default: (await import('./keys-help.tsx')).KeysHelp }))
const PhoneMenu = lazy(async () => ({ default: (await import('./phone-menu.tsx')).PhoneMenu }))

/** What appears around each page of the console: the menu, the palette, the keyboard. */
export function ConsoleFrame() {
  const [isOpen, menu] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
  const [asked, setAsked] = useState<AskedPalette>()
  const openPalette = useCallback(() => setAsked({ from: document.activeElement }), [])
  useConsoleKeys({ openPalette, openHelp: help.open })
  return (
    <div className={classes.frame}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.bar}>
        <Burger opened={isOpen} onClick={menu.toggle} size="sm" aria-label="Menu" />
        <Name />
        <ActionIcon aria-label="Find anything" onClick={openPalette}>
          <SearchIcon size={16} />
        </ActionIcon>
      </header>
      <div className={classes.side}>
        <Menu openPalette={openPalette} />
      </div>
      <main id="main" className={classes.main} tabIndex={-1}>
        <Offline />
        <Suspense fallback={<Waiting />}>
          <ForReaders>
            <Outlet />
          </ForReaders>
        </Suspense>
      </main>
      <Suspense fallback={null}>
        {isOpen ? (
          <PhoneMenu onClose={menu.close}>
            <Menu onGo={menu.close} openPalette={openPalette} />
          </PhoneMenu>
        ) : null}
        {asked === undefined ? null : <FindAnything asked={asked} onCancel={() => setAsked(undefined)} />}
        {isHelpOpen ? <KeysHelp onClose={help.close} /> : null}
      </Suspense>
    </div>
  )
}

/** What was read before stays in sight; it is read again when the network returns. */
function Offline() {
  const { online } = useNetwork()
  return online ? null : (
    <div className={classes.offline}>
      <Notice tone="warning">
        You are offline: what is shown may be old. It is read again when the network returns.
      </Notice>
    </div>
  )
}

function Name() {
  return (
    <Link to="/console" className={classes.name}>
      <img src={site.logo ?? '/site/icon'} alt="" height={20} />
      {site.name}
    </Link>
  )
}

function Menu({ onGo, openPalette }: { onGo?: () => void; openPalette: () => void }) {
  const may = useMay()
  const { role } = useSession()
  return (
    <nav className={classes.menu} aria-label="Pages">
      <div className={classes.top}>
        <Name />
      </div>
      <UnstyledButton
        className={classes.find}
        onClick={() => {
          onGo?.()
          openPalette()
        }}
      >
        <SearchIcon size={14} aria-hidden />
        <span>Find anything</span>
        <Kbd size="xs">{navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'} K</Kbd>
      </UnstyledButton>
      {placesOf(may, role).map(({ title, places }) => {
        return (
          <div key={title} className={classes.group}>
            <h2>{title}</h2>
            <ul>
              {places.map(({ title, to, icon: Icon, key }) => (
                <li key={to}>
                  <Link
                    to={to}
                    className={classes.place}
                    activeProps={{ 'data-here': true }}
                    activeOptions={{ exact: to === '/console', includeSearch: false }}
                    {...(onGo === undefined ? {} : { onClick: onGo })}
                  >
                    <Icon size={16} aria-hidden />
                    <span>{title}</span>
                    <span className={classes.key} aria-hidden>
                      G {key.toUpperCase()}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
      <div className={classes.foot}>
        <WhoMenu />
        <div className={classes.zone}>
          <VisuallyHidden>All times are in </VisuallyHidden>
          {zoneName()} {site.version === '' ? null : `· ${site.version}`}
        </div>
      </div>
    </nav>
  )
}
