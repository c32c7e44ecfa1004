package io.varve.flash.mvstore;

import java.nio.file.Path;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreContract;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStoreException;

/** The store in a file of H2's MVStore. Confined to the test's thread. */
class MvStoreTest extends StoreContract {
    @Override
    protected FlashStore open(Path where, Limits limits) {
        return MvStore.open(where, new MvSettings(8 << 20, limits.mostDiskBytes(), limits.freeDiskBytes(),
                limits.retryMillis()));
    }

    private MvStore opened() {
        return (MvStore) store;
    }

    @Override
    protected void giveUp() {
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
}
