package io.varve.flash.je;

import java.nio.file.Path;

import com.sleepycat.je.DbInternal;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentFailureException;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreContract;

import static org.assertj.core.api.Assertions.assertThat;

/** The store in a Berkeley DB JE environment. Confined to the test's thread. */
class JeStoreTest extends StoreContract {
    private static final long LOCK_TIMEOUT_MILLIS = 10_000;

    @Override
    protected FlashStore open(Path where, Limits limits) {
        return JeStore.open(where, new JeSettings(8 << 20, limits.mostDiskBytes(), limits.freeDiskBytes(),
                LOCK_TIMEOUT_MILLIS, limits.retryMillis()));
    }

    private JeStore opened() {
        return (JeStore) store;
    }

    /** As JE does itself when it cannot go on. */
    @Override
    protected void giveUp() {
        Environment environment = opened().environment();
        EnvironmentFailureException.unexpectedState(DbInternal.getNonNullEnvImpl(environment), "for the test");
        assertThat(environment.isValid()).isFalse();
    }

    @Override
    protected long reopened() {
        return opened().reopened();
    }
}
