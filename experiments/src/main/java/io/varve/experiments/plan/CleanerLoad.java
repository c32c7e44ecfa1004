package io.varve.experiments.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The load of the cleaner experiment: persistent keys, expiring keys, and their write frequencies. Immutable.
 *
 * <p>The write rate is chosen so that a given number of items is alive in the long run, whatever the TTLs and the skew.
 * So all loads fill the memory equally, and differ only in how their items die.
 *
 * @param keyBytes length of every key
 * @param values their lengths
 * @param lastingKeys keys without a TTL; all are written before the experiment begins
 * @param expiringKeys keys with a TTL; 0 if each of them is written only once
 * @param hotKeys share of the keys that are hot, 0 to 1
 * @param hotWrites share of the writes that go to them
 * @param ttlShare share of the writes that go to expiring keys
 * @param ttlSeconds one of these for each write of an expiring key
 * @param writesPerSecond write rate by the experiment's own clock
 * @param warmWrites writes before the counted part
 * @param countedWrites writes of the counted part
 * @param maintainMillis interval of maintenance, on the experiment's clock
 * @param maintainRounds maximum number of rounds of one maintenance
 */
public record CleanerLoad(int keyBytes, ValueSizes values, int lastingKeys, int expiringKeys, double hotKeys,
        double hotWrites, double ttlShare, List<Integer> ttlSeconds, double writesPerSecond, long warmWrites,
        long countedWrites, int maintainMillis, int maintainRounds) {
    private static final int KEY_BYTES = 16;
    /** This many bisections reduce a range to nothing. */
    private static final int HALVINGS = 100;

    /** @throws IllegalArgumentException if a property is missing or invalid */
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
        // Without TTLs only the clock depends on the rate; if no key is written twice, each lives for its TTL.
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
                    "a workload of the cleaner experiment has no " + name + ": it needs "
                            + String.join(", ", Arrays.asList("live-share", "ttl-share", "hot-keys", "hot-writes",
                                    "keys-per-live", "warm-turnovers", "turnovers", "maintain-every-ms",
                                    "maintain-rounds")));
        }
        return Double.parseDouble(text);
    }

    /** Number of all writes of a run. */
    public long writes() {
        return lastingKeys + warmWrites + countedWrites;
    }

    /**
     * Number of expiring keys that are alive in the long run, at a rate of writes to them: a key is alive if its last
     * write is not longer ago than that write's TTL.
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
            double mid = (low + high) / 2;
            if (aliveAt(mid, keys, hotKeys, hotWrites, ttls) < alive) {
                low = mid;
            } else {
                high = mid;
            }
        }
        return high;
    }
}
