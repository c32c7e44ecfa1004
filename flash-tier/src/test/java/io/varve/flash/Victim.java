package io.varve.flash;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.mvstore.MvSettings;
import io.varve.flash.mvstore.MvStore;
import io.varve.flash.policy.Policies;
import io.varve.flash.store.FlashStore;

/**
 * A process that changes a cache on flash, prints the acknowledged changes, and is killed. Confined to its main thread.
 */
final class Victim {
    static final int KEYS = 120;
    static final int ITEMS = 60;
    private static final int CACHE_BYTES = 4 << 20;

    private Victim() {}

    /** The change number i of all: which key, to which value. Immutable. */
    record Step(String key, String value, boolean deletes) {
        static Step of(long i) {
            SplittableRandom random = new SplittableRandom(i);
            // The generator's first numbers of neighbouring seeds differ well enough after one.
            random.nextLong();
            return new Step(name(random.nextInt(KEYS)), i + " " + "x".repeat(random.nextInt(300)),
                    random.nextInt(5) == 0);
        }
    }

    static String name(int number) {
        return "key" + number;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static FlashStore store(String library, Path directory) {
        return library.equals("je")
                ? JeStore.open(directory, JeSettings.of(CACHE_BYTES))
                : MvStore.open(directory, MvSettings.of(CACHE_BYTES));
    }

    static FlashCache cache(String library, Path directory, boolean back, boolean sync) {
        FlashCacheSettings settings = FlashCacheSettings.of(ITEMS).withWriteBack(back).withSync(sync);
        return new FlashCache(store(library, directory.resolve("flash")), store(library, directory.resolve("disk")),
                Policies.TBF.create(Arena.ofAuto(), ITEMS, new SplittableRandom(1)), settings, System::nanoTime);
    }

    /** @param args library, directory, back or through, sync or not, number of the first step */
    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false,
                StandardCharsets.US_ASCII);
        FlashCache cache = cache(args[0], Path.of(args[1]), args[2].equals("back"), args[3].equals("sync"));
        for (long i = Long.parseLong(args[4]);; i++) {
            Step step = Step.of(i);
            if (step.deletes()) {
                cache.delete(bytes(step.key()));
            } else {
                cache.write(bytes(step.key()), bytes(step.value()));
            }
            if (i % 3 == 0) {
                cache.read(bytes(name((int) (i % KEYS))));
            }
            out.print(i + "\n");
            out.flush();
            if (out.checkError()) {
                throw new IOException("nobody listens");
            }
        }
    }
}
