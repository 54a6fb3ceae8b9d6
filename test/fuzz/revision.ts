import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { parseLocale, toCanonicalLocale } from '../../src/bot/locale.ts';
import { isChangeCursor } from '../../src/catalogue/changes/change-feed.ts';
import { parseCollectionName } from '../../src/catalogue/page/side-file.ts';
import { parsePagePath, pathOf } from '../../src/catalogue/page/layout.ts';
import { resolveRange } from '../../src/check/changed-files.ts';
import { UserError } from '../../src/lib/errors.ts';
import { parseReturnPath } from '../../src/login/session.ts';
import { findSubject, parseSubject, toSubjectPath } from '../../src/proposals/proposal.ts';
import { testRepository } from '../support/repository.ts';
import type { Target } from './fuzzer.ts';
import { split } from './words.ts';

/** A revision that names a commit is resolved, any other is refused, and none is an option of git or changes the clone. */
export function openRevision(): Target {
  const repo = testRepository({ a: '1' });
  repo.commit({ a: '2' });
  repo.git('tag', 'v1');
  repo.git('branch', 'other', 'HEAD~1');
  const listAll = (): string => `${repo.git('for-each-ref')}${readdirSync(repo.folder).join()}`;
  const before = listAll();
  return {
    words: split(
      'HEAD main other v1 origin/ refs/heads/main @ @{u} @{-1} @{0} @{yesterday} ~1 ~99 ^ ^2 ^{} ^{tree} ^{/a} :/Begin :a .. ... -- -h --all --output=x --git-dir=/ --exec=x --upload-pack=x ext::sh \n \0 [ * \\ .lock // 0000000000000000000000000000000000000000 f',
    ),
    maxLength: 200,
    test: async (input) => {
      const text = input.toString().replaceAll('\0', '');
      for (const [base, head] of [[text], ['main', text]] as const)
        try {
          const range = await resolveRange(repo.folder, base, head);
          for (const id of [range.base, range.head, range.before]) match(id, /^[0-9a-f]{40}$/);
          strictEqual(
            repo.git('rev-parse', '--verify', '--end-of-options', `${text}^{commit}`).trim(),
            head === undefined ? range.base : range.head,
          );
        } catch (error) {
          ok(error instanceof UserError, error as Error);
          match(error.message, /: /);
        }
      strictEqual(listAll(), before);
    },
  };
}

/** A name that is accepted is spelt in one way, and leads to nowhere but its place. */
export const name: Target = {
  words: split(
    '/ // \\ . .. ? # % & = : @ - + \n \r \t \0 é bots/ collections/ people/ profile- collection- .md .json .en.md 007 7 99999999999999999999 en pt-BR x-a /bots/7 /add?a=b //a.example https: a@',
  ),
  maxLength: 300,
  test: (input) => {
    const text = input.toString();
    const place = parsePagePath(text);
    if (place) strictEqual(pathOf(place.id, place.locale), text);
    const locale = parseLocale(text);
    if (typeof locale === 'string') strictEqual(new Intl.Locale(text).toString(), text);
    else if (locale.canonical !== undefined)
      strictEqual(toCanonicalLocale(locale.canonical), locale.canonical);
    const path = parseReturnPath(text);
    deepStrictEqual(new URL(path, 'https://bots.example').href, `https://bots.example${path}`);
    if (isChangeCursor(text)) match(text, /^[0-9a-f.]+$/);
    const collection = parseCollectionName(text);
    if (collection) strictEqual(`${collection.name}.${collection.locale}.md`, text);
    for (const subject of [parseSubject(text), findSubject(text)]) {
      if (subject === undefined) continue;
      match(subject, /^(?:[0-9]{1,20}|profile-[0-9]{1,20}|collection-[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)$/);
      strictEqual(parseSubject(subject), subject);
      match(toSubjectPath(subject), /^\/(?:bots|authors|collections)\/[a-z0-9-]+$/);
    }
  },
};
