package io.varve.flash.tier;

import io.varve.flash.policy.Policies;

/**
 * How the tier is to be. Immutable.
 *
 * @param maxItems     items that it holds at the most, 1 or more
 * @param maxBytes     that its files take at the most, about; 0 for no limit
 * @param policy       who goes when there are more
 * @param admission    what of that which falls is taken
 * @param probability  with which it is, where that is left to chance: above 0 and at most 1
 * @param sync         whether what is invalidated, and what fell, is on the device before anybody is told
 * @param threads      that read and write, a power of two
 * @param queueBytes   of what has fallen and is not written yet: what falls beyond is gone
 * @param maxItemBytes the largest value that is taken
 * @param leastFreeBytes of the device: while less is free nothing is taken
 */
public record FlashTierSettings(long maxItems, long maxBytes, Policies policy, Admission.Kind admission,
        double probability, boolean sync, int threads, long queueBytes, int maxItemBytes, long leastFreeBytes) {
    /** A store that keeps less than this free for itself can still take things out when nothing is put in any more. */
    private static final long LEAST_FREE_BYTES = 128L << 20;
    private static final int THREADS = 2;
    private static final long QUEUE_BYTES = 8L << 20;
    private static final int MAX_ITEM_BYTES = 1 << 20;

    /** @throws IllegalArgumentException if a number is out of its range */
    public FlashTierSettings {
        if (maxItems < 1 || maxBytes < 0 || threads < 1 || Integer.bitCount(threads) != 1 || queueBytes < 1
                || maxItemBytes < 1 || !(probability > 0 && probability <= 1)) {
            throw new IllegalArgumentException(
                    "A flash tier of " + maxItems + " items and " + maxBytes + " bytes, with "
                            + threads + " threads, a queue of " + queueBytes + " bytes, items of up to " + maxItemBytes
                            + " bytes and a probability of " + probability + " cannot be");
        }
    }

    /** For so many items, with TBF, everything taken, handed to the system. */
    public static FlashTierSettings of(long maxItems) {
        return new FlashTierSettings(maxItems, 0, Policies.TBF, Admission.Kind.ALL, 1, false, THREADS, QUEUE_BYTES,
                MAX_ITEM_BYTES, LEAST_FREE_BYTES);
    }

    public FlashTierSettings withPolicy(Policies chosen) {
        return new FlashTierSettings(maxItems, maxBytes, chosen, admission, probability, sync, threads, queueBytes,
                maxItemBytes, leastFreeBytes);
    }

    public FlashTierSettings withMaxBytes(long bytes) {
        return new FlashTierSettings(maxItems, bytes, policy, admission, probability, sync, threads, queueBytes,
                maxItemBytes, leastFreeBytes);
    }

    public FlashTierSettings withAdmission(Admission.Kind kind, double chance) {
        return new FlashTierSettings(maxItems, maxBytes, policy, kind, chance, sync, threads, queueBytes, maxItemBytes,
                leastFreeBytes);
    }

    public FlashTierSettings withSync(boolean synced) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, synced, threads, queueBytes,
                maxItemBytes, leastFreeBytes);
    }

    public FlashTierSettings withQueueBytes(long bytes) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, threads, bytes,
                maxItemBytes, leastFreeBytes);
    }

    public FlashTierSettings withLeastFreeBytes(long bytes) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, threads, queueBytes,
                maxItemBytes, bytes);
    }

    public FlashTierSettings withThreads(int count) {
        return new FlashTierSettings(maxItems, maxBytes, policy, admission, probability, sync, count, queueBytes,
                maxItemBytes, leastFreeBytes);
    }
}
