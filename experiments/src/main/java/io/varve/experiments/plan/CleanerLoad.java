package io.varve.experiments.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * What the cleaner experiment writes: keys that last, keys that expire, and how often each is written. Immutable.
 *
 * <p>The rate is chosen so that a given number of items is alive in the long run, whatever the TTLs and the skew: all loads
 * fill the memory alike, and only how their items die differs.
 *
 * @param keyBytes        of every key
 * @param values          their lengths
 * @param lastingKeys     that have no TTL; all are written before it begins
 * @param expiringKeys    that have one; 0 if each of them is written only once
 * @param hotKeys         share of the keys that are hot, 0 to 1
 * @param hotWrites       share of the writes that go to them
 * @param ttlShare        share of the writes that go to keys that expire
 * @param ttlSeconds      one of these for each write of a key that expires
 * @param writesPerSecond of the experiment's own clock
 * @param warmWrites      before anything is counted
 * @param countedWrites   while it is
 * @param maintainMillis  how often maintenance has its turn, on the experiment's clock
 * @param maintainRounds  rounds of a turn, at most
 */
public record CleanerLoad(int keyBytes, ValueSizes values, int lastingKeys, int expiringKeys, double hotKeys,
        double hotWrites, double ttlShare, List<Integer> ttlSeconds, double writesPerSecond, long warmWrites,
        long countedWrites, int maintainMillis, int maintainRounds) {
    private static final int KEY_BYTES = 16;
    /** Halving a range so often leaves nothing of it. */
    private static final int HALVINGS = 100;

    /** @throws IllegalArgumentException if a property is missing or cannot be */
    static CleanerLoad of(Map<String, String> workload, long maxmemory) {
        ValueSizes values = ValueSizes.parse(workload.getOrDefault("values", ""));
        double itemBytes = KEY_BYTES + values.mean();
        double live = maxmemory * number(workload, "live-share") / itemBytes;
        double ttlShare = number(workload, "ttl-share");
        double hotKeys = number(workload, "hot-keys");
        double hotWrites = number(workload, "hot-writes");
        List<Integer> ttls = new ArrayList<>();
        for (String ttl : workload.getOrDefault("ttls", "").split(" ", -1)) {
            ttls.add(Integer.parseInt(ttl));
        }
        int expiring = (int) (live * ttlShare * number(workload, "keys-per-live"));
        // Without TTLs nothing depends on the rate but the clock; where no key is written twice, each lives for its TTL.
        double rate = ttlShare == 0 || expiring == 0
                ? live / ttls.stream().mapToInt(Integer::intValue).average().orElseThrow()
                : rateFor(live * ttlShare, expiring, hotKeys, hotWrites, ttls) / ttlShare;
        double turnover = maxmemory / itemBytes;
        return new CleanerLoad(KEY_BYTES, values, (int) (live * (1 - ttlShare)), expiring, hotKeys, hotWrites, ttlShare,
                List.copyOf(ttls), rate, (long) (turnover * number(workload, "warm-turnovers")),
                (long) (turnover * number(workload, "turnovers")), (int) number(workload, "maintain-every-ms"),
                (int) number(workload, "maintain-rounds"));
    }

    private static double number(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException(
                    "a workload of the cleaner experiment has no " + name + ": it is to have "
                            + String.join(", ", Arrays.asList("live-share", "ttl-share", "hot-keys", "hot-writes",
                                    "keys-per-live", "warm-turnovers", "turnovers", "maintain-every-ms",
                                    "maintain-rounds")));
        }
        return Double.parseDouble(text);
    }

    /** All writes of a run. */
    public long writes() {
        return lastingKeys + warmWrites + countedWrites;
    }

    /**
     * How many of the keys that expire are alive in the long run, at so many writes a second to them: a key is, if its last
     * write is no longer ago than that write's TTL.
     */
    static double aliveAt(double writesPerSecond, int keys, double hotKeys, double hotWrites, List<Integer> ttls) {
        return alive(writesPerSecond * hotWrites, keys * hotKeys, ttls)
                + alive(writesPerSecond * (1 - hotWrites), keys * (1 - hotKeys), ttls);
    }

    private static double alive(double writesPerSecond, double keys, List<Integer> ttls) {
        if (keys <= 0) {
            return 0;
        }
        double perKey = writesPerSecond / keys;
        return keys * ttls.stream().mapToDouble(ttl -> -Math.expm1(-perKey * ttl)).average().orElse(0);
    }

    private static double rateFor(double alive, int keys, double hotKeys, double hotWrites, List<Integer> ttls) {
        double low = 0;
        double high = keys * 10.0;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (aliveAt(middle, keys, hotKeys, hotWrites, ttls) < alive) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return high;
    }
}
