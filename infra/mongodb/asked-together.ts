/**
 * Once whatever is running now has run as far as it comes without waiting for something outside: ticks come behind the
 * promises that are settled. Not the end of the turn (`setImmediate`): between a socket's end, which the event loop sees
 * before, and its "close", which comes after, the driver writes to the dead socket, and waits for it for ever.
 */
const endOfRun = (): Promise<void> => Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));

/**
 * Makes one question of all those that are asked at the same time: `ask` gets them in their order, and whoever asked
 * gets the whole of its answer, or its error.
 */
export const askedTogether = <Q, A>(ask: (questions: readonly Q[]) => Promise<A>): ((question: Q) => Promise<A>) => {
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
