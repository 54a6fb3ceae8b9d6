import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { AccountId } from '../../bot/commit-message.ts';
import { isUnavailable } from '../../bot/errors.ts';
import { parseInvite } from '../../bot/invite.ts';
import { english } from '../../bot/locale.ts';
import { type ComparedFile, compareInvites, comparePages } from '../../catalogue/changes/bot-changes.ts';
import { parsePagePath, pathOf } from '../../catalogue/page/layout.ts';
import { findImages, parsePage } from '../../catalogue/page/page.ts';
import { parsePageFile } from '../../catalogue/page/page-file.ts';
import { nothingBlocked } from '../../catalogue/settings/blocked.ts';
import { blockedRule, type Finding } from '../../check/check.ts';
import { checkProposal } from '../../check/check-changes.ts';
import { ProblemError, toProblem } from '../../http/problem.ts';
import { parseFields, parseQuery, readFields, refuseCrossSite } from '../../http/request.ts';
import { isError } from '../../lib/errors.ts';
import {
  type Proposal,
  ProposalError,
  maxNoteLength,
  findSubject,
  isSentByBot,
  isSubmission,
  toProposalPath,
  createOwns,
} from '../../proposals/proposal.ts';
import { type ChangedFieldsProps, compareWords, toShownPages } from '../../site/changes/changed-fields.tsx';
import type { MessageKey } from '../../site/language/messages.tsx';
import { toSharedPath, withParameter } from '../../site/page/addresses.ts';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import type { Site } from '../../site/page/page-context.tsx';
import { sendLogInPage } from '../page/elements.tsx';
import {
  type FieldName,
  type FieldTexts,
  findPlace,
  readFieldTexts,
  splitWords,
  toFrontMatter,
  withSchemes,
} from './fields.ts';
import { AddPage, type FilledForm, sentField } from './add-page.tsx';
import { addedAuthor, movedField } from './advice.tsx';
import {
  botVersionParameter,
  createForm,
  type Form,
  type FormFile,
  type FormImage,
  createPreview,
  formHeads,
  languageParameters,
  lacksAuthor,
  listImages,
  makeFile,
  proposalParameter,
  readPlaceTexts,
} from './forms.ts';
import { changeShelf, fillShelf, shelfField } from './shelf.tsx';
import type { DeskParts, ProposalParts } from '../page/desk-parts.ts';

/**
 * Adds the forms of all kinds of files. Sending a form saves nothing: the response shows the file with its errors;
 * below `/file`, the response is the file as a download.
 */
export function addAddRoutes(router: Router, parts: DeskParts): void {
  const { site, viewerOf, proposals, drafts } = parts;
  for (const head of formHeads) {
    const { kind, mode, path } = head;
    /** Calls a handler with the form, or asks the person to log in if the form requires it. */
    const withForm =
      (handle: (ctx: Context, filled: FilledForm) => Promise<void>) =>
      async (ctx: Context): Promise<void> => {
        const viewer = await viewerOf(ctx);
        if (kind === 'profile' && viewer === null) return sendLogInPage(ctx, site, path, 'myBots.visitor');
        const query = parseQuery(ctx);
        const { id, name } = ctx['params'];
        const form = createForm(parts, head, {
          subject: String((kind === 'profile' ? viewer?.id : (id ?? name)) ?? ''),
          language: kind === 'profile' ? null : query.get(languageParameters[mode]),
          viewer,
          messages: site.languages.of(ctx),
        });
        const policy = proposals?.findPolicy(site.settings, form.owners, null) ?? 'off';
        const isLater = kind === 'bot' && mode === 'add' && viewer === null && policy !== 'off';
        await handle(ctx, await fillInForm(ctx, parts, isLater ? withLaterAuthor(form) : form));
      };
    router.get(
      path,
      withForm(async (ctx, opened) => await show(ctx, parts, await withDraft(ctx, drafts, opened))),
    );
    router.post(
      [path, `${path}/file`],
      withForm(async (ctx, opened) => {
        const sent = await readForm(ctx, site, opened);
        const { path: file = '', text, faults } = makeFile(parts, sent.form, sent.texts);
        if (!ctx.path.endsWith('/file') || Object.keys(faults).length > 0)
          return await show(ctx, parts, sent);
        ctx.attachment(file.slice(file.lastIndexOf('/') + 1));
        ctx.set('Cache-Control', 'no-store');
        ctx.type = file.endsWith('.json') ? 'json' : 'text/markdown; charset=utf-8';
        ctx.body = text;
      }),
    );
    if (proposals && drafts)
      router.post(
        `${path}/send`,
        refuseCrossSite(site.baseUrl),
        withForm(async (ctx, opened) => {
          await propose(ctx, { ...parts, proposals, drafts }, await readForm(ctx, site, opened));
        }),
      );
  }
}

/** Makes the author of a form optional, because the account that logs in to send it becomes the author. */
function withLaterAuthor(form: Form): Form {
  const groups = form.groups.map((group) =>
    group.map((field) => (field.name === 'authors' ? { ...field, required: false } : field)),
  );
  return { ...form, groups };
}

/** Fills in a form from the viewer's proposal that the address names, or from the file. */
async function fillInForm(ctx: Context, parts: DeskParts, form: Form): Promise<FilledForm> {
  const { proposals, viewerOf } = parts;
  const { texts: listed, base } = form;
  const untouched = { note: '', find: '', conflicts: new Map(), answer: null, message: null };
  const filled: FilledForm = { form, texts: listed, base, ...untouched, isTyped: false, isSent: false };
  const path = parseQuery(ctx).get(proposalParameter) ?? '';
  const subject = findSubject(path);
  const viewer = subject && (await viewerOf(ctx));
  const ofBot = viewer && findAnswered(ctx, parts, viewer.id);
  const proposal = ofBot ?? (viewer && proposals?.list.findLast(subject, viewer.id));
  const place = readPlaceTexts(path);
  const isSame = place.id === form.texts.id && place.collection === form.texts.collection;
  if (!proposals || !proposal || (form.mode !== 'add' && !isSame)) return filled;
  const { changed, sent, conflicts, steps } = await proposals.read(proposal);
  const [last] = steps;
  const action = withParameter(form.action, proposalParameter, path);
  const texts = readFieldTexts(path, changed.get(path) ?? sent.get(path) ?? '', form.groups);
  if (texts === undefined) return filled;
  const both = form.groups.flat().filter((field) => {
    const key = findPlace(field)[0] ?? field.name;
    const isChanged = conflicts.includes(key) || conflicts.includes('file');
    return isChanged && form.mode === 'edit' && texts[field.name] !== form.texts[field.name];
  });
  return {
    ...filled,
    form: { ...form, action: ofBot ? withParameter(action, botVersionParameter, ofBot.version) : action },
    texts: { ...form.texts, ...texts, ...(form.mode !== 'edit' && place) },
    answer: last?.state === 'changes-asked' || last?.state === 'declined' ? last : null,
    note: steps.find(isSubmission)?.text ?? '',
    conflicts: new Map(both.map(({ name }) => [name, form.texts[name] ?? ''])),
  };
}

/** Returns the proposal of a bot that its author answers with a form; undefined if it has changed since. */
function findAnswered(ctx: Context, { proposals, bots }: DeskParts, id: AccountId): Proposal | undefined {
  const version = parseQuery(ctx).get(botVersionParameter);
  return proposals?.list
    .listOf(id, createOwns(bots, id))
    .find((one) => isSentByBot(one) && one.version === version);
}

/** Fills in the texts that were typed before a login, if the address names them. */
async function withDraft(ctx: Context, drafts: DeskParts['drafts'], filled: FilledForm): Promise<FilledForm> {
  const id = parseQuery(ctx).get(draftParameter);
  if (id === null) return filled;
  const draft = await drafts?.read(id);
  if (draft === undefined) return { ...filled, message: { key: 'proposal.draftExpired' } };
  return { ...parseForm(parseFields(draft), filled), message: { key: 'proposal.loggedIn' } };
}

const draftParameter = 'draft';

/** Sends a form to the reviewers. On failure, shows it again with the reason; without a login, asks for one first. */
async function propose(ctx: Context, parts: ProposalParts, filled: FilledForm): Promise<void> {
  const { site, authors, proposals, drafts, login, viewerOf } = parts;
  const { form, texts, base, note } = filled;
  const refuse = async (status: number, key: MessageKey, values = {}): Promise<void> => {
    if ([429, 503].includes(status)) ctx.set('Retry-After', '600');
    await show(ctx, parts, { ...filled, message: { key, values } }, status);
  };
  const file = makeFile(parts, form, texts);
  const { path = '' } = file;
  const subject = findSubject(path);
  const { length: count } = note;
  if (subject === undefined || !file.isReady) return await show(ctx, parts, filled);
  if (base !== form.base) return await refuse(409, 'edit.stale');
  if (count > maxNoteLength) return await refuse(422, 'fault.tooLong', { count, limit: maxNoteLength });
  try {
    const proposer = await viewerOf(ctx);
    if (proposer === null) {
      if (checkForm(parts, file, false).some(({ rule }) => rule === blockedRule))
        return await refuse(409, 'proposal.blocked');
      const typed = String(new URLSearchParams({ ...texts, base, note }));
      const draft = await drafts.save(typed, ctx.ip);
      return sendLogInPage(ctx, site, withParameter(form.action, draftParameter, draft), 'proposal.logIn');
    }
    const pages = new Map([[path, file.text]]);
    const accountCreatedAt = login?.findCreation(proposer.id);
    const isAuthor = (await authors.find(proposer.id)).bots.length > 0;
    const sent = { subject, proposer, pages, note, accountCreatedAt, isAuthor };
    const { proposal, shared } = await proposals.send(sent);
    const replaced = findAnswered(ctx, parts, proposer.id);
    // Otherwise both wait, and the author can withdraw it.
    if (replaced)
      await proposals
        .withdraw(subject, replaced.proposer.id, replaced.version, proposer)
        .catch(() => undefined);
    redirectTo(ctx, site.languages.of(ctx).href(toSharedPath(toProposalPath(proposal), shared)));
  } catch (error) {
    if (isUnavailable(error) || isError(error, 'share-full'))
      return await refuse(toProblem(error).status, 'proposal.unavailable');
    if (!(error instanceof ProposalError) || error.kind === 'not-maintainer') throw error;
    const status = error.kind === 'too-many-in-all' ? 503 : error.kind.startsWith('too-many') ? 429 : 409;
    await refuse(status, `proposal.${error.kind}`, error.values);
  }
}

/**
 * Reads a form from a request. Forms from other sites are refused: sending changes nothing, but previews take time.
 * @throws {ProblemError} cross-site, unsupported-type, too-large, bad-request
 */
async function readForm(ctx: Context, { languages }: Site, opened: FilledForm): Promise<FilledForm> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site')
    throw new ProblemError('cross-site', 'a page of another site has sent this form: open the form here');
  const fields = await readFields(ctx, 'shorten the page', maxPageFormBytes);
  return parseForm(fields, opened, languages.findChosen(ctx, true) !== undefined);
}

/** A page has up to 20,000 characters. */
const maxPageFormBytes = 256 * 1024;

function parseForm(fields: URLSearchParams, opened: FilledForm, isOtherLanguage = false): FilledForm {
  const { groups } = opened.form;
  const texts: Partial<Record<FieldName, string>> = {};
  for (const { name } of groups.flat()) {
    const text = fields.get(name);
    if (text !== null) texts[name] = text;
  }
  if (isOtherLanguage && listDescriptions(opened.form).includes(texts.description))
    texts.description = opened.form.texts.description ?? '';
  const [author, moved, step] = [fields.get(addedAuthor), fields.get(movedField), fields.get(shelfField)];
  if (step !== null) texts.bots = changeShelf(splitWords(texts.bots ?? ''), step).join(' ');
  if (author !== null) texts.authors = `${texts.authors ?? ''} ${author}`.trim();
  if (moved === 'invite' || moved === 'website') {
    texts.support = texts[moved] ?? '';
    texts[moved] = '';
  }
  const complete = completeNewBot(opened.form, withSchemes(groups, texts));
  return {
    ...opened,
    texts: complete,
    base: fields.get('base') ?? '',
    note: (fields.get('note') ?? '').trim(),
    find: fields.get('find') ?? '',
    isTyped: true,
    isSent: moved === null && ((step === null && !isOtherLanguage) || fields.get(sentField) !== null),
  };
}

/** Returns the texts of a profile's description field that count as unedited: empty, or that of any language. */
function listDescriptions({ kind, source }: Form): unknown[] {
  if (kind !== 'profile') return [];
  const { description } = parsePage('', Buffer.from(toFrontMatter(source))).page?.data ?? {};
  return ['', ...Object.values(description ?? {})];
}

/** Fills in the texts of a new bot that can be derived: its id from the invite link, its author from the login. */
function completeNewBot({ kind, mode, texts: first }: Form, texts: FieldTexts): FieldTexts {
  if (kind !== 'bot' || mode !== 'add') return texts;
  const [client = '', ...more] = parseInvite(texts.invite ?? '')?.clients ?? [];
  return {
    ...texts,
    id: texts.id?.trim() || (more.length === 0 ? client : ''),
    authors: texts.authors?.trim() || (first.authors ?? ''),
  };
}

async function show(ctx: Context, parts: DeskParts, filled: FilledForm, status = 200): Promise<void> {
  const { site, viewerOf, markdown, proposals } = parts;
  const { form, texts } = filled;
  const viewer = await viewerOf(ctx);
  const language = site.languages.of(ctx);
  const file = makeFile(parts, form, texts);
  const named = parts.images === null ? [] : listImages(form, texts, file.faults);
  const paths = await parts.images?.preview(named, ctx.ip);
  const images = named.map((image, i): FormImage => ({ ...image, path: paths?.[i] }));
  const preview =
    form.kind === 'bot' ? createPreview(form, { texts, file, images }, language, parts.authors) : undefined;
  const text = file.faults.page === undefined ? file.page : '';
  const name = preview?.bot.contents[preview.locale]?.name ?? '';
  const html = await markdown.preview({ text, name, images: findImages(text) }, ctx.ip);
  const policy =
    (!viewer?.blocked && proposals?.findPolicy(site.settings, form.owners, viewer?.id ?? null)) || 'off';
  const findings =
    policy !== 'off' && file.isReady && !lacksAuthor(form, texts)
      ? checkForm(parts, file, viewer?.toReview !== undefined)
      : [];
  const changes = form.mode === 'edit' || form.kind === 'profile' ? compareFile(form, file) : null;
  if (changes) await compareWords(changes.pages);
  const { wanted } = language;
  const shelf = form.groups.flat().some(({ kind }) => kind === 'bots')
    ? await fillShelf(parts, texts, filled.find, { wanted, client: ctx.ip })
    : undefined;
  const outcome = { file, page: file.page, images, preview, shelf, html, findings, changes };
  const review = { policy, medianWaitMs: proposals?.list.medianWaitMs() };
  sendOnce(ctx, { site, viewer }, <AddPage {...filled} {...outcome} {...review} />, status);
}

/** Compares the file of a form with the file that it changes. */
function compareFile({ kind, source }: Form, { path = '', text }: FormFile): ChangedFieldsProps {
  const place = parsePagePath(path);
  const locale = place?.locale ?? english;
  const [before = [], after = []] = [source, text].map((file): ComparedFile[] => {
    const content = Buffer.from(kind === 'profile' ? toFrontMatter(file) : file);
    return [{ path, locale, page: parsePage(path, content).page }];
  });
  const [was = [], now = []] = [source, text].map((file) =>
    place ? [parsePageFile(place, Buffer.from(file))] : [],
  );
  const pages = toShownPages(comparePages(before, after)).filter(({ fields }) => fields.length > 0);
  return { pages, invite: compareInvites(was, now) };
}

/**
 * Checks a form's change of a bot, with the findings that reviewers will see.
 * @param showsReasons whether findings include reasons of blocks
 */
function checkForm(
  { bots, readFile, site, blocked }: DeskParts,
  { path = '', text }: FormFile,
  showsReasons: boolean,
): readonly Finding[] {
  const place = parsePagePath(path);
  if (place === undefined) return [];
  const { id } = place;
  const files = bots.get(id)?.files ?? [];
  const before = files.flatMap(({ locale, main }) => {
    const former = main || locale === place.locale ? readFile(pathOf(id, locale)) : undefined;
    return former === undefined ? [] : [parsePageFile({ id, locale }, Buffer.from(former))];
  });
  const others = before.filter(({ locale }) => locale !== place.locale);
  const after = [...others, parsePageFile(place, Buffer.from(text))];
  return checkProposal(before, after, site.settings, blocked.current ?? nothingBlocked, showsReasons);
}
