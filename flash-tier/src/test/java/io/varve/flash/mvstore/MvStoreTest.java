package io.varve.flash.mvstore;

import java.nio.file.Path;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreContract;
import io.varve.flash.store.StoreException;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStoreException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The store in a file of H2's MVStore. Confined to the test's thread. */
class MvStoreTest extends StoreContract {
    @Override
    protected FlashStore open(Path where, Limits limits) {
        return MvStore.open(where, new MvSettings(8 << 20, limits.maxDiskBytes(), limits.freeDiskBytes(), 0, false,
                limits.retryMillis()));
    }

    private MvStore opened() {
        return (MvStore) store;
    }

    @Override
    protected void breakFiles() {
        try {
            opened().library().panic(new MVStoreException(DataUtils.ERROR_WRITING_FAILED, "for the test"));
        } catch (MVStoreException expected) {
            // As it does when it could not write.
            opened().library().closeImmediately();
        }
    }

    @Override
    protected long reopened() {
        return opened().reopened();
    }

    /** Overwritten records are dead: the file stays within its limit, and the store accepts further writes. */
    @Test
    void aLimitThatIsReachedByOverwritingIsNoEnd() {
        store.close();
        store = open(directory.resolve("flash"), new Limits(12 << 20, 0, 0));
        byte[] value = new byte[50_000];
        int refused = 0;
        for (int i = 0; i < 2000; i++) {
            value[0] = (byte) i;
            try {
                store.put(number(i % 40), value, DurabilityLevel.TO_SYSTEM);
            } catch (StoreException full) {
                assertThat(full.kind()).isEqualTo(StoreException.Kind.FULL);
                refused++;
            }
        }
        assertThat(refused).as("of 2000 writes of 100 MB, 2 MB of which live").isLessThan(1000);
        assertThat(opened().bytes()).isLessThan(16 << 20);
    }
}
