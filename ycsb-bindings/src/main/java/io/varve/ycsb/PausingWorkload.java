package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.ycsb.option.Side;
import org.jspecify.annotations.Nullable;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's core workload with pauses in which no client requests the remote database's records: the penalty paper's
 * Figure 16. Thread-safe, as YCSB has one for all its threads.
 *
 * <p>Keys are drawn as in the core workload, and redrawn while their record is in a database that is paused. So the
 * request rate stays constant in a pause, and all requests go to the local one. From the start of thrashing on, one
 * percent of the operations requests the remote database only, the next percent the local one only.
 */
public final class PausingWorkload extends CoreWorkload {

    /** Pauses, in percent of the operations: {@code 20-30,45-65}. Default: none. */
    static final String PAUSES = "remotepauses";
    /** The percentage of the operations at which it starts to thrash. Default: never. */
    static final String THRASH_FROM = "remotethrashfrom";

    private static final Pattern PAUSE = Pattern.compile("(\\d{1,2})-(\\d{1,3})");
    private static final int WHOLE = 100;
    /**
     * Records are spread over both databases by hash: this many draws without one of a database mean that it has none.
     */
    private static final int MAX_DRAWS = 100_000;

    private final AtomicLong begun = new AtomicLong();
    private final List<Pause> pauses = new ArrayList<>();
    private int thrashFrom = WHOLE;
    private long operations = 1;

    /** From one percentage of the operations to a larger one. */
    private record Pause(int from, int to) {}

    /** YCSB's constructor. */
    public PausingWorkload() {}

    /** @throws WorkloadException that names the property, its value and the allowed values */
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
            // The core workload checks that generator's class.
            throw new WorkloadException(REQUEST_DISTRIBUTION_PROPERTY
                    + "=exponential: with pauses, expected YCSB's other distributions");
        }
        keychooser = new CountingGenerator(keychooser);
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
                + ": expected ranges of percentages of the operations, such as 20-30,45-65");
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
        return new WorkloadException(THRASH_FROM + "=" + word + ": expected a percentage of the operations, 0 to 100",
                cause);
    }

    @Override
    public boolean doTransaction(DB db, Object threadState) {
        begun.incrementAndGet();
        return super.doTransaction(db, threadState);
    }

    /** The only database that is requested at this moment; null for both. */
    private @Nullable Side alone() {
        double percent = (double) WHOLE * (begun.get() - 1) / operations;
        if (percent >= thrashFrom) {
            return (long) (percent - thrashFrom) % 2 == 0 ? Side.REMOTE : Side.LOCAL;
        }
        return pauses.stream().anyMatch(pause -> percent >= pause.from && percent < pause.to) ? Side.LOCAL : null;
    }

    /** Draws numbers of records that are requested at this moment. */
    private final class CountingGenerator extends NumberGenerator {
        private final NumberGenerator all;

        private CountingGenerator(NumberGenerator all) {
            this.all = all;
        }

        @Override
        public Number nextValue() {
            for (int draws = 0; draws < MAX_DRAWS; draws++) {
                Number next = all.nextValue();
                Side alone = alone();
                if (alone == null || Side.of(buildKeyName(next.longValue())) == alone) {
                    return next;
                }
            }
            throw new IllegalStateException("None of " + MAX_DRAWS + " keys belongs to the " + alone() + " database");
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
