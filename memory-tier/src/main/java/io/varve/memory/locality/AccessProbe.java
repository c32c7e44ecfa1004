package io.varve.memory.locality;

/**
 * How one thread tells an {@link AccessRecorder} of its accesses. Confined to that thread.
 *
 * <p>An access is told of in two steps. The first counts it, and says whether the recorder is to know which it was, as of two or three in a hundred: a number counted
 * up and compared, and a look at eight bytes of a table. The second is for those.
 */
public final class AccessProbe {
    /** What has been counted and not been told. */
    static final class Counted {
        long accesses;
        long writes;
        long ofNothing;
        long bytes;
    }

    private final AccessRecorder recorder;
    private final Draws draws;
    private final Counted counted = new Counted();
    /** Accesses told ever, and how many more until one is drawn. */
    private long told;
    private long untilDrawn;
    private double block;

    AccessProbe(AccessRecorder recorder, long seed, double block) {
        this.recorder = recorder;
        this.block = block;
        draws = new Draws(block, seed);
        untilDrawn = draws.next();
    }

    /**
     * Counts a read that found an item.
     *
     * @param itemBytes what the item takes
     * @return whether {@link #read} is to be told of it
     */
    public boolean countRead(long hash, long itemBytes) {
        counted.bytes += itemBytes;
        return count(hash);
    }

    /** Counts a write, which leaves an item of this size. @return whether {@link #write} is to be told of it */
    public boolean countWrite(long hash, long itemBytes) {
        counted.bytes += itemBytes;
        counted.writes++;
        return count(hash);
    }

    /** Counts a read that found nothing. @return whether {@link #readOfNothing} is to be told of it */
    public boolean countReadOfNothing(long hash) {
        counted.ofNothing++;
        return count(hash);
    }

    private boolean count(long hash) {
        return ++counted.accesses >= untilDrawn || recorder.follows(hash);
    }

    /**
     * The read that was counted last.
     *
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     */
    public void read(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        tell(true, true, hash, itemClass, itemBytes, expiresMillis, nowMillis);
    }

    /**
     * The write that was counted last.
     *
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     */
    public void write(long hash, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        tell(false, true, hash, itemClass, itemBytes, expiresMillis, nowMillis);
    }

    /**
     * The write that was counted last, which has filled what a read of nothing was for. Writes are drawn as often as reads: so for as many reads as
     * were told of a wrong class, it is put right.
     *
     * @param missedClass   of which that read was told
     * @param expiresMillis when the item expires, or {@link ReuseRecorder#NEVER}
     */
    public void fill(long hash, int missedClass, int itemClass, long itemBytes, long expiresMillis, long nowMillis) {
        if (counted.accesses >= untilDrawn) {
            recorder.moveDrawnRead(missedClass, itemClass);
        }
        write(hash, itemClass, itemBytes, expiresMillis, nowMillis);
    }

    /** The read of nothing that was counted last. */
    public void readOfNothing(long hash, int itemClass, long nowMillis) {
        tell(true, false, hash, itemClass, 0, ReuseRecorder.NEVER, nowMillis);
    }

    private void tell(boolean read, boolean item, long hash, int itemClass, long itemBytes, long expiresMillis,
            long nowMillis) {
        boolean isDrawn = counted.accesses >= untilDrawn;
        block = recorder.tell(counted, isDrawn, read, item, hash, itemClass, itemBytes, expiresMillis, nowMillis);
        told += counted.accesses;
        if (isDrawn) {
            draws.after(told, block);
        }
        untilDrawn = draws.next() - told;
        counted.accesses = 0;
        counted.writes = 0;
        counted.ofNothing = 0;
        counted.bytes = 0;
    }
}
