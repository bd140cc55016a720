import type { JsonObject } from "../../../domain/json.ts";
import type { Moment, Samples, Unsigned } from "./moment.ts";

const OWNER = "example";
const REPOSITORY = `${OWNER}/shop`;
const PERSON = "jo-example";
const EMAIL = "jo@example.com";
const MESSAGE = "Round the total before it is charged";
const SHA_LENGTH = 40;

/** Hexadecimal, as the name of a commit is. */
const sha = (moment: Moment): string => {
  const hex = (moment.uuid() + moment.uuid()).replaceAll("-", "");
  return hex.slice(0, SHA_LENGTH);
};

const githubEvent =
  (event: string, more: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({
    headers: {
      "user-agent": "GitHub-Hookshot/sample",
      "x-github-delivery": moment.uuid(),
      "x-github-event": event,
      "x-github-hook-id": String(moment.digits(9)),
    },
    payload: {
      ...more(moment),
      repository: {
        id: moment.digits(9),
        name: "shop",
        full_name: REPOSITORY,
        private: true,
        html_url: `https://github.com/${REPOSITORY}`,
        default_branch: "main",
      },
      sender: { login: PERSON, id: moment.digits(8), type: "User" },
    },
  });

const githubPush = (moment: Moment): JsonObject => {
  const after = sha(moment);
  const commit = {
    id: after,
    message: MESSAGE,
    timestamp: moment.iso,
    author: { name: "Jo Example", email: EMAIL, username: PERSON },
    added: [],
    removed: [],
    modified: ["src/total.ts"],
  };
  const pusher = { name: PERSON, email: EMAIL };
  return { ref: "refs/heads/main", before: sha(moment), after, commits: [commit], head_commit: commit, pusher };
};

const githubPull = (moment: Moment): JsonObject => ({
  action: "opened",
  number: 42,
  pull_request: {
    id: moment.digits(10),
    number: 42,
    state: "open",
    title: MESSAGE,
    html_url: `https://github.com/${REPOSITORY}/pull/42`,
    created_at: moment.iso,
    user: { login: PERSON },
    head: { ref: "round-total", sha: sha(moment) },
    base: { ref: "main", sha: sha(moment) },
    merged: false,
  },
});

const githubIssue = (moment: Moment): JsonObject => ({
  action: "opened",
  issue: {
    id: moment.digits(10),
    number: 41,
    state: "open",
    title: "The total is a cent too high",
    html_url: `https://github.com/${REPOSITORY}/issues/41`,
    created_at: moment.iso,
    user: { login: PERSON },
    labels: [],
  },
});

const githubRelease = (moment: Moment): JsonObject => ({
  action: "published",
  release: {
    id: moment.digits(9),
    tag_name: "v1.4.0",
    name: "1.4.0",
    draft: false,
    prerelease: false,
    published_at: moment.iso,
    html_url: `https://github.com/${REPOSITORY}/releases/tag/v1.4.0`,
  },
});

export const githubSamples: Samples = {
  push: githubEvent("push", githubPush),
  "pull_request.opened": githubEvent("pull_request", githubPull),
  "issues.opened": githubEvent("issues", githubIssue),
  "release.published": githubEvent("release", githubRelease),
};

const gitlabEvent =
  (event: string, more: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({
    headers: {
      "idempotency-key": moment.uuid(),
      "user-agent": "GitLab/sample",
      "x-gitlab-event": event,
      "x-gitlab-event-uuid": moment.uuid(),
      "x-gitlab-webhook-uuid": moment.uuid(),
    },
    payload: {
      ...more(moment),
      project: {
        id: moment.digits(7),
        name: "shop",
        path_with_namespace: REPOSITORY,
        web_url: `https://gitlab.com/${REPOSITORY}`,
        default_branch: "main",
      },
    },
  });

const gitlabUser = { name: "Jo Example", username: PERSON, email: EMAIL };

const gitlabPush = (moment: Moment): JsonObject => {
  const after = sha(moment);
  const commit = { id: after, message: MESSAGE, timestamp: moment.iso, author: { name: "Jo Example", email: EMAIL } };
  return {
    object_kind: "push",
    event_name: "push",
    ref: "refs/heads/main",
    before: sha(moment),
    after,
    user_name: "Jo Example",
    user_username: PERSON,
    commits: [commit],
    total_commits_count: 1,
  };
};

const gitlabMerge = (moment: Moment): JsonObject => ({
  object_kind: "merge_request",
  event_type: "merge_request",
  user: gitlabUser,
  object_attributes: {
    id: moment.digits(8),
    iid: 42,
    action: "open",
    state: "opened",
    title: MESSAGE,
    source_branch: "round-total",
    target_branch: "main",
    created_at: moment.iso,
    url: `https://gitlab.com/${REPOSITORY}/-/merge_requests/42`,
  },
});

const gitlabIssue = (moment: Moment): JsonObject => ({
  object_kind: "issue",
  event_type: "issue",
  user: gitlabUser,
  object_attributes: {
    id: moment.digits(8),
    iid: 41,
    action: "open",
    state: "opened",
    title: "The total is a cent too high",
    created_at: moment.iso,
    url: `https://gitlab.com/${REPOSITORY}/-/issues/41`,
  },
});

export const gitlabSamples: Samples = {
  "Push Hook": gitlabEvent("Push Hook", gitlabPush),
  "Merge Request Hook": gitlabEvent("Merge Request Hook", gitlabMerge),
  "Issue Hook": gitlabEvent("Issue Hook", gitlabIssue),
};

const bitbucketEvent =
  (event: string, more: (moment: Moment) => JsonObject) =>
  (moment: Moment): Unsigned => ({
    headers: {
      "user-agent": "Bitbucket-Webhooks/2.0",
      "x-attempt-number": "1",
      "x-event-key": event,
      "x-hook-uuid": moment.uuid(),
      "x-request-uuid": moment.uuid(),
    },
    payload: {
      ...more(moment),
      repository: { uuid: `{${moment.uuid()}}`, name: "shop", full_name: REPOSITORY, is_private: true },
      actor: { display_name: "Jo Example", uuid: `{${moment.uuid()}}`, type: "user" },
    },
  });

const bitbucketPush = (moment: Moment): JsonObject => {
  const target = { type: "commit", hash: sha(moment), message: MESSAGE, date: moment.iso };
  const change = { new: { type: "branch", name: "main", target }, created: false, closed: false, forced: false };
  return { push: { changes: [change] } };
};

const bitbucketPull = (moment: Moment): JsonObject => ({
  pullrequest: {
    id: 42,
    title: MESSAGE,
    state: "OPEN",
    created_on: moment.iso,
    source: { branch: { name: "round-total" }, commit: { hash: sha(moment).slice(0, 12) } },
    destination: { branch: { name: "main" }, commit: { hash: sha(moment).slice(0, 12) } },
  },
});

export const bitbucketSamples: Samples = {
  "repo:push": bitbucketEvent("repo:push", bitbucketPush),
  "pullrequest:created": bitbucketEvent("pullrequest:created", bitbucketPull),
};
