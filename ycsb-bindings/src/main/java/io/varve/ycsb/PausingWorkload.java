package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's core workload in which nobody asks for the remote database's records for some time, again and again: the penalty paper's Figure 16. Thread-safe, as YCSB
 * has one for all its threads.
 *
 * <p>Keys are drawn as the core workload draws them, and drawn once more as long as their record is in a database that nobody asks now. So requests come as fast in a pause, all of them
 * for the local one. From where it thrashes on one percent of the operations is for the remote database alone, the next for the local one.
 */
public final class PausingWorkload extends CoreWorkload {

    /** Pauses, in percent of the operations: {@code 20-30,45-65}. Default: none. */
    static final String PAUSES = "remotepauses";
    /** From so many percent of the operations on it thrashes. Default: never. */
    static final String THRASH_FROM = "remotethrashfrom";

    private static final Pattern PAUSE = Pattern.compile("(\\d{1,2})-(\\d{1,3})");
    private static final int WHOLE = 100;
    /** Records are spread over both by hash: so many draws without one of a database mean that it has none. */
    private static final int MOST_DRAWS = 100_000;

    private final AtomicLong begun = new AtomicLong();
    private final List<Pause> pauses = new ArrayList<>();
    private int thrashFrom = WHOLE;
    private long operations = 1;

    /** From one percent of the operations to another, which is after it. */
    private record Pause(int from, int to) {}

    /** YCSB's constructor. */
    public PausingWorkload() {}

    /** @throws WorkloadException that names the property, its value and what is allowed */
    @Override
    public void init(Properties properties) throws WorkloadException {
        super.init(properties);
        for (String word : properties.getProperty(PAUSES, "").split(",", -1)) {
            if (!word.isBlank()) {
                pauses.add(pause(word.strip()));
            }
        }
        thrashFrom = percent(properties.getProperty(THRASH_FROM, String.valueOf(WHOLE)));
        operations = Math.max(1, Long.parseLong(properties.getProperty(Client.OPERATION_COUNT_PROPERTY, "1")));
        if ("exponential".equals(properties.getProperty(REQUEST_DISTRIBUTION_PROPERTY))) {
            // The core workload looks at that generator's class.
            throw new WorkloadException(REQUEST_DISTRIBUTION_PROPERTY
                    + "=exponential: allowed with pauses is any other of YCSB's distributions");
        }
        keychooser = new Asked(keychooser);
    }

    private static Pause pause(String word) throws WorkloadException {
        Matcher matcher = PAUSE.matcher(word);
        if (matcher.matches()) {
            Pause pause = new Pause(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
            if (pause.from < pause.to && pause.to <= WHOLE) {
                return pause;
            }
        }
        throw new WorkloadException(PAUSES + "=" + word
                + ": allowed are pairs of percents of the operations, the lower one first, as in 20-30,45-65");
    }

    private static int percent(String word) throws WorkloadException {
        try {
            int percent = Integer.parseInt(word.strip());
            if (percent >= 0 && percent <= WHOLE) {
                return percent;
            }
        } catch (NumberFormatException e) {
            throw notAllowed(word, e);
        }
        throw notAllowed(word, null);
    }

    private static WorkloadException notAllowed(String word, @Nullable Exception cause) {
        return new WorkloadException(THRASH_FROM + "=" + word + ": allowed is a percent of the operations, 0 to 100",
                cause);
    }

    @Override
    public boolean doTransaction(DB db, Object threadState) {
        begun.incrementAndGet();
        return super.doTransaction(db, threadState);
    }

    /** Which database alone is asked now; null if both are. */
    private @Nullable Side alone() {
        double percent = (double) WHOLE * (begun.get() - 1) / operations;
        if (percent >= thrashFrom) {
            return (long) (percent - thrashFrom) % 2 == 0 ? Side.REMOTE : Side.LOCAL;
        }
        return pauses.stream().anyMatch(pause -> percent >= pause.from && percent < pause.to) ? Side.LOCAL : null;
    }

    /** Draws numbers of records that are asked for now. */
    private final class Asked extends NumberGenerator {
        private final NumberGenerator all;

        private Asked(NumberGenerator all) {
            this.all = all;
        }

        @Override
        public Number nextValue() {
            for (int draws = 0; draws < MOST_DRAWS; draws++) {
                Number next = all.nextValue();
                Side alone = alone();
                if (alone == null || Side.of(buildKeyName(next.longValue())) == alone) {
                    return next;
                }
            }
            throw new IllegalStateException("None of " + MOST_DRAWS + " keys is of the " + alone() + " database");
        }

        @Override
        public Number lastValue() {
            return all.lastValue();
        }

        @Override
        public double mean() {
            return all.mean();
        }
    }
}
