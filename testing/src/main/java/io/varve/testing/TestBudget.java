package io.varve.testing;

import java.util.List;
import java.util.stream.Stream;

/**
 * The amount of work that a random or long test does, and its seed. Stateless: it reads system properties.
 *
 * <p>A test has two budgets: a small one for the gate, {@code mvn verify}, and a large one for {@code mvn verify
 * -Pnightly}. A property with the budget's name, as in {@code -Dvarve.model.operations=1000000}, replaces both.
 */
public final class TestBudget {
    /** The profile {@code nightly} sets it. */
    private static final boolean NIGHTLY = Boolean.getBoolean("varve.test.nightly");

    private static final StackWalker CALLERS = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private TestBudget() {}

    /**
     * Returns and prints the budget of this run.
     *
     * @param name the system property that replaces it
     */
    public static long of(String name, long gate, long nightly) {
        return of(CALLERS.getCallerClass(), name, gate, nightly);
    }

    /** Returns and prints a budget that is an int. */
    public static int ofInt(String name, int gate, int nightly) {
        return Math.toIntExact(of(CALLERS.getCallerClass(), name, gate, nightly));
    }

    private static long of(Class<?> test, String name, long gate, long nightly) {
        long budget = Long.getLong(name, NIGHTLY ? nightly : gate);
        if (budget < 1) {
            throw new IllegalArgumentException(name + " is " + budget + ": a test needs at least 1");
        }
        print(test, name, budget);
        return budget;
    }

    /** Whether this run has the large budgets. */
    public static boolean isNightly() {
        return NIGHTLY;
    }

    /**
     * Returns the cases of a parameterized test: the first list in the gate, both lists in the nightly profile.
     *
     * @param nightly the cases that the gate leaves out
     */
    public static <T> List<T> cases(List<T> gate, List<T> nightly) {
        return NIGHTLY ? Stream.concat(gate.stream(), nightly.stream()).toList() : gate;
    }

    /**
     * Returns and prints the seed of a random test.
     *
     * @param name the system property that repeats a seed
     */
    public static long seed(String name) {
        long seed = Long.getLong(name, System.nanoTime());
        print(CALLERS.getCallerClass(), name, seed);
        return seed;
    }

    private static void print(Class<?> test, String name, long value) {
        System.out.println(test.getSimpleName() + ": -D" + name + "=" + value);
    }
}
