package io.varve.server.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;

/**
 * Feeds a target with mutations of valid inputs, without regard to coverage. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.fuzz.inputs=N} sets the number of inputs, {@code -Dvarve.fuzz.seed=N} repeats them. A failing input
 * is shortened as long as it fails, and printed.
 */
public final class FuzzRun {
    private static final long INPUTS = TestBudget.of("varve.fuzz.inputs", 20_000, 500_000);
    private static final int MAX_BYTES = 4096;

    private final String name;
    private final FuzzTarget target;
    private final List<byte[]> good;
    private final List<byte[]> kept;
    private final List<byte[]> seeds;
    private final List<byte[]> words;
    private final SplittableRandom random;
    private final long seed;

    public FuzzRun(FuzzCase fuzzCase) {
        name = fuzzCase.name();
        target = fuzzCase.target();
        good = fuzzCase.seeds();
        kept = fuzzCase.kept();
        seeds = Stream.concat(good.stream(), kept.stream()).toList();
        words = fuzzCase.words();
        seed = TestBudget.seed("varve.fuzz.seed");
        random = new SplittableRandom(seed);
    }

    /** Runs inputs that have failed once, each seed unchanged and cut at every position, then random ones. */
    public void run() {
        run(INPUTS);
    }

    /** With a tenth of the random ones, for a target that takes long. */
    public void runFewer() {
        run(INPUTS / 10);
    }

    private void run(long inputs) {
        System.out.println(name + " seed " + seed);
        kept.forEach(this::feed);
        for (byte[] each : good) {
            for (int length = 0; length <= each.length; length++) {
                feed(Arrays.copyOf(each, length));
            }
        }
        for (long i = 0; i < inputs; i++) {
            feed(next());
        }
    }

    private void feed(byte[] input) {
        Throwable wrong = failure(input);
        if (wrong != null) {
            byte[] shrunk = shrink(input);
            Throwable again = failure(shrunk);
            throw new AssertionFailedError(
                    name + ", seed " + seed + ": fails with " + text(shrunk) + "\nwhich is left of "
                            + text(input),
                    again == null ? wrong : again);
        }
    }

    private @Nullable Throwable failure(byte[] input) {
        try {
            target.fuzz(input.clone());
            return null;
        } catch (RuntimeException | Error wrong) {
            return wrong;
        }
    }

    /** Leaves out pieces, half of it first and single bytes last, as long as what is left fails. */
    private byte[] shrink(byte[] input) {
        byte[] shrunk = input;
        for (int piece = Math.max(1, input.length / 2); piece > 0; piece /= 2) {
            int from = 0;
            while (from < shrunk.length) {
                byte[] shorter = without(shrunk, from, Math.min(shrunk.length, from + piece));
                if (failure(shorter) == null) {
                    from += piece;
                } else {
                    shrunk = shorter;
                }
            }
        }
        return shrunk;
    }

    // --- inputs

    private byte[] next() {
        if (random.nextInt(20) == 0) {
            byte[] any = new byte[random.nextInt(64)];
            random.nextBytes(any);
            return any;
        }
        byte[] input = random.nextInt(10) == 0 ? new byte[0] : seeds.get(random.nextInt(seeds.size()));
        for (int i = 1 + Math.min(random.nextInt(8), random.nextInt(8)); i > 0; i--) {
            input = changed(input);
        }
        return input.length > MAX_BYTES ? Arrays.copyOf(input, MAX_BYTES) : input;
    }

    private byte[] changed(byte[] input) {
        // The first bytes matter more than the last.
        int at = random.nextInt(1 + (random.nextBoolean() ? Math.min(input.length, 16) : input.length));
        int end = Math.min(input.length, at + 1 + random.nextInt(random.nextInt(4) == 0 ? 64 : 4));
        return switch (random.nextInt(9)) {
            case 0 -> Arrays.copyOf(input, at);
            case 1 -> without(input, at, end);
            case 2 -> with(input, at, at, new byte[] {(byte) random.nextInt(256)});
            case 3 -> with(input, at, end, words.get(random.nextInt(words.size())));
            case 4, 5 -> with(input, at, at, words.get(random.nextInt(words.size())));
            case 6 -> with(input, at, at, Arrays.copyOfRange(input, at, end));
            case 7 -> {
                byte[] other = seeds.get(random.nextInt(seeds.size()));
                int from = random.nextInt(1 + other.length);
                yield with(input, at, input.length, Arrays.copyOfRange(other, from, other.length));
            }
            default -> {
                byte[] flipped = input.clone();
                if (at < flipped.length) {
                    flipped[at] = (byte) (random.nextBoolean()
                            ? random.nextInt(256)
                            : flipped[at] ^ 1 << random.nextInt(8));
                }
                yield flipped;
            }
        };
    }

    private static byte[] without(byte[] bytes, int from, int to) {
        return with(bytes, from, to, new byte[0]);
    }

    private static byte[] with(byte[] bytes, int from, int to, byte[] instead) {
        byte[] changed = Arrays.copyOf(bytes, bytes.length - (to - from) + instead.length);
        System.arraycopy(instead, 0, changed, from, instead.length);
        System.arraycopy(bytes, to, changed, from + instead.length, bytes.length - to);
        return changed;
    }

    /** As a Java string. */
    private static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder("\"");
        for (byte b : bytes) {
            char c = (char) (b & 0xFF);
            switch (c) {
                case '\r' -> text.append("\\r");
                case '\n' -> text.append("\\n");
                case '"', '\\' -> text.append('\\').append(c);
                default -> {
                    if (c >= ' ' && c < 127) {
                        text.append(c);
                    } else {
                        text.append(String.format("\\u%04x", (int) c));
                    }
                }
            }
        }
        return text.append('"').toString();
    }
}
