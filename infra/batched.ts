/** Not `setImmediate`: the driver would write to a socket that has ended but not yet closed, and wait for ever. */
export const endOfRun = (): Promise<void> =>
  Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));

/** Collects the questions of one turn of the event loop into one call of `ask`; each caller gets the whole answer. */
export const batched = <Q, A>(ask: (questions: readonly Q[]) => Promise<A>): ((question: Q) => Promise<A>) => {
  let gathering: { readonly questions: Q[]; readonly answer: Promise<A> } | null = null;

  const gather = () => {
    const questions: Q[] = [];
    const answer = endOfRun().then(() => {
      gathering = null;
      return ask(questions);
    });
    return { questions, answer };
  };

  return (question) => {
    gathering ??= gather();
    gathering.questions.push(question);
    return gathering.answer;
  };
};
