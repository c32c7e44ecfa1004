package io.varve.memory.locality.curve;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Learns the distribution of reuse times from a sample of a stream of accesses. Confined to one thread, or guarded by
 * its owner's lock. Its memory is fixed except for the histograms, which each class gets with its first sample and
 * which grow with the longest reuse time. Recording allocates nothing else.
 *
 * <p><b>Sampling.</b> Accesses are sampled at a fixed rate, whatever their keys (as AET's authors do [1]). The key of a
 * sampled access is followed until it is accessed again or removed. Sampling keys by their hash (SHARDS [2], the set
 * sampling of pRedis [3]) sees all accesses to one key in a hundred. If a few keys take most of the accesses, the
 * result then depends on whether these keys are in the sample. Here a key has as many samples as it has hundreds of
 * accesses, apart from chance, so a hot key is just a key with many samples. Both take the same memory: at any time, a
 * hundredth of all keys wait for their next access.
 *
 * <p><b>Cost.</b> At least ninety-seven accesses in a hundred are not sampled and their keys are not followed. Such an
 * access increments and compares a counter, and reads eight bytes of a table of 128 KB.
 *
 * <p><b>Time</b> is counted in accesses. An item expires by wall-clock time, and the recorder gets no report if the
 * item was evicted before. The sample therefore stores the expiry time: an access after it is no reuse, however much
 * memory there is.
 *
 * <p>[1] Hu and others: Kinetic Modeling of Data Eviction in Cache (ATC 2016). [2] Waldspurger and others: Efficient
 * MRC Construction with SHARDS (FAST 2015). [3] Pan and others: Penalty and Locality Aware Memory Allocation in Redis
 * (SoCC 2019), section 2.2.
 */
public final class ReuseRecorder {
    /** The expiry time of items that do not expire. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final int MAX_CLASSES = Byte.MAX_VALUE + 1;
    /** Slots that are examined for each added key while there are too many. */
    private static final int SLICE = 32;
    /** For classes without samples; never written. */
    private static final ReuseHistograms NOTHING = new ReuseHistograms(0);

    private final Sampling sampling;
    private final SamplingRate rate;
    private final SampleSchedule schedule;
    private final SampledKeys sampledKeys;
    /**
     * Created with the first sample of a class: a server that uses three classes of sixteen has no memory for the
     * others.
     */
    private final @Nullable ReuseHistograms[] classes;
    private final AgeCorrection ageCorrection = new AgeCorrection(ReuseHistograms.TIMES, 0);

    /** All accesses so far. */
    private long clock;
    /** In this period: accesses that were no reads, and reads that found no item. */
    private long writes;
    private long absent;
    /** In this period: the bytes of the items, summed over the accesses. */
    private long bytes;
    private double earlierReads;
    private double earlierPresent;
    private double earlierBytes;
    /** The position of the walk over the table, and the number of slots that it still has to examine. */
    private int walkedTo;
    private int walkLeft;
    /** The first reported wall-clock time, for the rate of accesses. */
    private long firstMillis = NEVER;

    /**
     * @param classes the number of classes, 1 to 128
     * @param seed the seed of the sampling
     */
    public ReuseRecorder(int classes, Sampling sampling, long seed) {
        if (classes < 1 || classes > MAX_CLASSES) {
            throw new IllegalArgumentException(
                    "The number of classes must be 1 to " + MAX_CLASSES + ", not " + classes);
        }
        this.sampling = sampling;
        this.classes = new ReuseHistograms[classes];
        rate = new SamplingRate(sampling, seed);
        schedule = new SampleSchedule(rate.block(), ~seed);
        sampledKeys = new SampledKeys(sampling.keys());
    }

    /**
     * Records a read of an item, present or not: a cache with more memory might hold it.
     *
     * @param hash the hash of the key, 64 well-mixed bits
     * @param itemBytes bytes of the item
     * @param expiresMillis when the item expires, or {@link #NEVER}
     * @param nowMillis the time
     */
    public void read(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        count(1, 0, 0, itemBytes);
        end(hash, true, nowMillis);
        if (clock >= schedule.next()) {
            sampleRead(itemClass);
            sample(hash, itemClass, itemBytes, expiresMillis, nowMillis);
            schedule.after(clock, rate.block());
        }
    }

    /** Records a read of a key without an item, whose size is unknown until a later write. */
    public void readMiss(long hash, int itemClass, long nowMillis) {
        count(1, 0, 1, 0);
        end(hash, true, nowMillis);
        if (clock >= schedule.next()) {
            sampleRead(itemClass);
            schedule.after(clock, rate.block());
        }
    }

    /** Records a write, which leaves an item of this size. */
    public void write(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        count(1, 1, 0, itemBytes);
        end(hash, false, nowMillis);
        if (clock >= schedule.next()) {
            sample(hash, itemClass, itemBytes, expiresMillis, nowMillis);
            schedule.after(clock, rate.block());
        }
    }

    /** Records the removal of an item: deleted, deleted after an eviction, or expired. Not for evictions. */
    public void remove(long hash, long nowMillis) {
        int slot = sampledKeys.find(hash);
        if (slot >= 0) {
            stopFollowing(slot, accessesSince(slot, nowMillis));
        }
    }

    /**
     * Records a new expiry time of an existing item, set after its last access.
     *
     * @param expiresMillis the new time, or {@link #NEVER}
     */
    public void expires(long hash, long expiresMillis, long nowMillis) {
        int slot = sampledKeys.find(hash);
        if (slot >= 0) {
            if (nowMillis >= sampledKeys.deadline(slot)) {
                // The sampled item has expired; the present one was created later, and not sampled.
                stopFollowing(slot, accessesSince(slot, nowMillis));
            } else {
                sampledKeys.deadline(slot, expiresMillis);
            }
        }
    }

    /** Records the removal of all items. */
    public void removeAll() {
        removeAll(0, 0, 0, sampledKeys.slots());
    }

    // --- the steps of an access

    /**
     * Counts accesses.
     *
     * @param written the accesses that were no reads
     * @param readMisses the reads that found no item
     * @param itemBytes the bytes of the items, summed over the accesses
     */
    public void count(long accesses, long written, long readMisses, long itemBytes) {
        clock += accesses;
        writes += written;
        absent += readMisses;
        bytes += itemBytes;
    }

    /** Whether the next access to a key is awaited; see {@link SampledKeys#find} for the accuracy in another thread. */
    public boolean follows(long hash) {
        return sampledKeys.find(hash) >= 0;
    }

    /** Ends the wait for a key, if any, with the last counted access. */
    public void end(long hash, boolean read, long nowMillis) {
        int slot = sampledKeys.find(hash);
        if (slot >= 0) {
            endAt(slot, read, nowMillis);
        }
    }

    /** Samples the last counted access, which is a read. */
    public void sampleRead(int itemClass) {
        of(itemClass).addSampledReads(rate.block(), clock);
    }

    private ReuseHistograms of(int itemClass) {
        ReuseHistograms histograms = classes[itemClass];
        if (histograms == null) {
            histograms = new ReuseHistograms(clock);
            classes[itemClass] = histograms;
        }
        return histograms;
    }

    /** Moves reads that were recorded for the wrong class, when the write that fills them is sampled. */
    public void moveSampledReads(int from, int to, int reads) {
        // At most the present number: older samples are partly forgotten.
        double moved = Math.min(sampledHistograms(from).sampledReads, rate.block() * reads);
        if (moved > 0) {
            of(from).removeSampledReads(moved, clock);
            of(to).addSampledReads(moved, clock);
        }
    }

    /** Samples the last counted access, which leaves an item whose key is not followed. */
    public void sample(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        if (firstMillis == NEVER) {
            firstMillis = nowMillis;
        }
        ReuseHistograms histograms = of(itemClass);
        histograms.sampled += rate.block();
        histograms.sampledBytes += rate.block() * itemBytes;
        lowerRate();
        // Only a tiny table that has long been at the last of all rates lacks space.
        if (sampledKeys.hasSpace()) {
            sampledKeys.add(hash, clock, itemBytes, itemClass, expiresMillis, rate.level());
        }
    }

    /** The present length of a sampling block: one of that many accesses is sampled. */
    public double block() {
        return rate.block();
    }

    /** Ends the wait for a key with an access to it. */
    private void endAt(int slot, boolean read, long nowMillis) {
        if (nowMillis >= sampledKeys.deadline(slot)) {
            stopFollowing(slot, accessesSince(slot, nowMillis));
            return;
        }
        ReuseHistograms histograms = of(sampledKeys.itemClass(slot));
        long reuse = clock - sampledKeys.start(slot);
        if (read) {
            histograms.reads.add(reuse, rate.weight(sampledKeys.level(slot)));
        }
        countEnd(slot, histograms.accessed, reuse);
        sampledKeys.remove(slot);
    }

    private void stopFollowing(int slot, long accessesSince) {
        countEnd(slot, of(sampledKeys.itemClass(slot)).removed, accessesSince);
        sampledKeys.remove(slot);
    }

    private void countEnd(int slot, TimeHistogram ended, long accesses) {
        double weight = rate.weight(sampledKeys.level(slot));
        ended.add(accesses, weight * sampledKeys.bytes(slot));
        of(sampledKeys.itemClass(slot)).ended += weight;
    }

    /**
     * How long an item has existed since its sampled access, in accesses; less than the accesses since, if it has
     * expired.
     */
    private long accessesSince(int slot, long nowMillis) {
        long since = clock - sampledKeys.start(slot);
        long late = nowMillis - sampledKeys.deadline(slot);
        if (late <= 0 || nowMillis <= firstMillis) {
            return since;
        }
        double accessesAMilli = (double) clock / (nowMillis - firstMillis);
        return Math.max(0, since - Math.round(late * accessesAMilli));
    }

    /** Lowers the rate if too many keys are followed, and forgets some of them, a few slots at a time. */
    private void lowerRate() {
        int max = rate.lowest() ? sampledKeys.slots() / 4 * 3 : sampling.keys();
        if (walkLeft == 0 && sampledKeys.size() >= max) {
            rate.reduce();
            walkLeft = sampledKeys.slots();
        }
        int left = Math.min(walkLeft, SLICE);
        walkLeft -= left;
        while (left > 0) {
            if (sampledKeys.used(walkedTo) && sampledKeys.level(walkedTo) < rate.level()) {
                if (!rate.keeps(sampledKeys.level(walkedTo))) {
                    sampledKeys.remove(walkedTo); // then examines the key that has moved up
                    continue;
                }
                sampledKeys.level(walkedTo, rate.level());
            }
            walkedTo = walkedTo + 1 & sampledKeys.slots() - 1;
            left--;
        }
    }

    /**
     * Reduces the weight of earlier samples, so that the curves follow a changing stream. It walks the whole table; not
     * for the request path.
     *
     * @param keep the remaining weight, 0 to 1
     */
    public void forget(double keep, long nowMillis) {
        requireShare(keep);
        forget(keep, pendingSamples(nowMillis));
    }

    /**
     * Stops following keys that were sampled longer ago than this, so that keys without further accesses do not fill
     * the table. Memory sizes that hold items for longer are then not covered. A good choice is {@link #evictionTime}
     * of the largest memory of interest, with a margin. A slow class needs longer to fill a memory of its own.
     *
     * @param accesses the limit by class
     */
    public void stopFollowingOlder(long[] accesses) {
        stopFollowingOlder(accesses, 0, sampledKeys.slots());
    }

    /** The curve of all classes together, as if they shared one LRU stack. */
    public MissRatioCurve curve(long nowMillis) {
        return curve(pendingSamples(nowMillis));
    }

    /** The curve of one class with memory of its own. */
    public MissRatioCurve curve(int itemClass, long nowMillis) {
        return curve(itemClass, pendingSamples(nowMillis));
    }

    /**
     * The future curve of one class with memory of its own, if accesses continue as they are. {@link #curve(int, long)}
     * describes a stream that began with an empty cache, in which the first read of a key misses. Here a read says
     * nothing about times longer than its class had existed. For a stream many times as long as items stay, both are
     * equal.
     */
    public MissRatioCurve forecast(int itemClass, long nowMillis) {
        return forecast(itemClass, pendingSamples(nowMillis));
    }

    /**
     * The average eviction time under LRU: the number of accesses for which an item stays after its last one, in a
     * memory that all classes share.
     *
     * @return {@link Long#MAX_VALUE} if the observed accesses would not fill such a memory
     */
    public long evictionTime(double memoryBytes, long nowMillis) {
        return evictionTime(memoryBytes, pendingSamples(nowMillis));
    }

    private PendingSamples[] pendingSamples(long nowMillis) {
        PendingSamples[] pending = PendingSamples.ofClasses(classes.length);
        settle(pending, nowMillis, 0, sampledKeys.slots());
        return pending;
    }

    // --- the same operations in slices of the table

    public int slots() {
        return sampledKeys.slots();
    }

    /** Adds up the pending samples by class; ends those of expired items. */
    public void settle(PendingSamples[] pending, long nowMillis, int from, int to) {
        for (int slot = from; slot < to;) {
            if (!sampledKeys.used(slot)) {
                slot++;
            } else if (nowMillis >= sampledKeys.deadline(slot)) {
                stopFollowing(slot, accessesSince(slot, nowMillis)); // then examines the key that has moved up
            } else {
                pending[sampledKeys.itemClass(slot)].add(rate.weight(sampledKeys.level(slot)), sampledKeys.bytes(slot),
                        clock - sampledKeys.start(slot));
                slot++;
            }
        }
    }

    public void stopFollowingOlder(long[] accesses, int from, int to) {
        for (int slot = from; slot < to;) {
            if (sampledKeys.used(slot) && clock - sampledKeys.start(slot) > accesses[sampledKeys.itemClass(slot)]) {
                countEnd(slot, of(sampledKeys.itemClass(slot)).accessed, Long.MAX_VALUE);
                sampledKeys.remove(slot); // then examines the key that has moved up
            } else {
                slot++;
            }
        }
    }

    /** Records the removal of all items whose hashes begin with these bits. */
    public void removeAll(long prefix, int prefixBits, int from, int to) {
        for (int slot = from; slot < to;) {
            if (sampledKeys.used(slot) && sampledKeys.beginsWith(slot, prefix, prefixBits)) {
                stopFollowing(slot, clock - sampledKeys.start(slot)); // then examines the key that has moved up
            } else {
                slot++;
            }
        }
    }

    public static void requireShare(double keep) {
        if (!(keep >= 0 && keep <= 1)) {
            throw new IllegalArgumentException("The part to keep must be 0 to 1, not " + keep);
        }
    }

    /** @param pending by class, as of now */
    public void forget(double keep, PendingSamples[] pending) {
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            if (histograms != null) {
                histograms.forget(keep, pending[i], clock);
            }
        }
        earlierReads = keep * reads();
        earlierPresent = keep * present();
        earlierBytes = keep * presentBytes();
        writes = 0;
        absent = 0;
        bytes = 0;
        ageCorrection.forget(keep, clock);
        rate.raise((double) sampling.keys() / 4 * 3 / Math.max(1, sampledKeys.size()));
    }

    public MissRatioCurve curve(PendingSamples[] pending) {
        return all(pending).curve(reads() == 0 ? 0 : present() / reads());
    }

    public MissRatioCurve curve(int itemClass, PendingSamples[] pending) {
        return reuseTimesOf(itemClass, pending).curve(accessesARead(itemClass));
    }

    /** The future curve of a class: {@link ReuseTimeDistribution#forecast}. */
    MissRatioCurve forecast(int itemClass, PendingSamples[] pending) {
        int[] first = new int[classes.length];
        Arrays.fill(first, -1);
        first[itemClass] = itemClass;
        return forecast(itemClass, first, pending);
    }

    /**
     * The future curve of several classes that share their memory and count as having existed for as long as the
     * oldest.
     *
     * @param group the group
     * @param first by class, the group that it belongs to
     */
    public MissRatioCurve forecast(int group, int[] first, PendingSamples[] pending) {
        ReuseHistograms oldest = NOTHING;
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms own = sampledHistograms(i);
            if (first[i] == group && own != NOTHING && (oldest == NOTHING || own.begun < oldest.begun)) {
                oldest = own;
            }
        }
        ReuseTimeDistribution reuseTimes = new ReuseTimeDistribution();
        double[] readsAtAge = new double[ReuseHistograms.AGES.buckets()];
        double accesses = 0;
        double reads = 0;
        double allBytes = 0;
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms own = sampledHistograms(i);
            if (first[i] == group && own != NOTHING) {
                reuseTimes.add(own, pending[i]);
                own.addReadsAtAge(readsAtAge, oldest.begun);
                accesses += own.sampled;
                reads += own.sampledReads;
                allBytes += own.sampledBytes;
            }
        }
        reuseTimes.sink(oldest.ageCorrection, clock, allBytes);
        return reuseTimes.forecast(reads == 0 ? 0 : accesses / reads, readsAtAge, clock - oldest.begun);
    }

    private ReuseTimeDistribution reuseTimesOf(int itemClass, PendingSamples[] pending) {
        ReuseHistograms histograms = sampledHistograms(itemClass);
        ReuseTimeDistribution reuseTimes = new ReuseTimeDistribution();
        reuseTimes.add(histograms, pending[itemClass]);
        reuseTimes.sink(histograms.ageCorrection, clock, histograms.sampledBytes);
        return reuseTimes;
    }

    private double accessesARead(int itemClass) {
        ReuseHistograms histograms = sampledHistograms(itemClass);
        return histograms.sampledReads == 0 ? 0 : histograms.sampled / histograms.sampledReads;
    }

    private ReuseHistograms sampledHistograms(int itemClass) {
        ReuseHistograms histograms = classes[itemClass];
        return histograms == null ? NOTHING : histograms;
    }

    public long evictionTime(double memoryBytes, PendingSamples[] pending) {
        return all(pending).evictionTime(memoryBytes);
    }

    /**
     * The average eviction time of one class with memory of its own; {@link Long#MAX_VALUE} if it would not fill it.
     */
    public long evictionTime(int itemClass, double memoryBytes, PendingSamples[] pending) {
        return reuseTimesOf(itemClass, pending).evictionTime(memoryBytes);
    }

    private ReuseTimeDistribution all(PendingSamples[] pending) {
        ReuseTimeDistribution reuseTimes = new ReuseTimeDistribution();
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            if (histograms != null) {
                reuseTimes.add(histograms, pending[i]);
            }
        }
        // The total bytes of all accesses are known: they correct the sampling error.
        reuseTimes.sink(ageCorrection, clock, presentBytes());
        return reuseTimes;
    }

    // --- facts

    /** All accesses so far. */
    public long accesses() {
        return clock;
    }

    /**
     * The memory of the recorder in bytes. It is independent of the number of keys, but grows with the first sample of
     * each class and with longer reuse times.
     */
    public long bytes() {
        long bytes = sampledKeys.bytes() + AgeCorrection.bytes(ReuseHistograms.TIMES);
        for (ReuseHistograms histograms : classes) {
            bytes += histograms == null ? 0 : histograms.bytes();
        }
        return bytes;
    }

    public int classes() {
        return classes.length;
    }

    /** Every violated invariant. For tests, of a recorder that has forgotten nothing and whose rate has not changed. */
    public List<String> checkIntegrity() {
        List<String> problems = new ArrayList<>();
        sampledKeys.check(problems::add);
        PendingSamples[] pending = PendingSamples.ofClasses(classes.length);
        settle(pending, Long.MIN_VALUE, 0, sampledKeys.slots());
        for (int i = 0; i < classes.length; i++) {
            ReuseHistograms histograms = classes[i];
            double known = pending[i].weight() + (histograms == null ? 0 : histograms.ended);
            double sampled = histograms == null ? 0 : histograms.sampled;
            if (Math.abs(known - sampled) > 0.5) {
                problems.add("class " + i + ": " + sampled + " accesses sampled, but of " + known
                        + " it is known what becomes of them");
            }
        }
        return problems;
    }

    /** Reads; forgotten ones count in part. */
    public double reads() {
        return earlierReads + ageCorrection.period(clock) - writes;
    }

    /** Accesses that left an item. */
    private double present() {
        return earlierPresent + ageCorrection.period(clock) - absent;
    }

    /** The bytes of these items, summed over the accesses. */
    private double presentBytes() {
        return earlierBytes + bytes;
    }

    /** The share of accesses that is sampled at present. */
    public double rate() {
        return 1 / rate.weight(rate.level());
    }

    /** Keys that are followed at present. */
    public int followedKeys() {
        return sampledKeys.size();
    }
}
