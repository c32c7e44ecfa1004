package io.varve.server.events;

import java.util.Locale;

import io.varve.server.config.EventClass;

/** The events of a key, named as in Redis. Immutable. */
public enum KeyEvent {
    DEL, EXPIRE, PERSIST, RENAME_FROM, RENAME_TO, MOVE_FROM, MOVE_TO, COPY_TO, RESTORE, SET, APPEND, INCRBY, INCRBYFLOAT, SETRANGE, SETBIT, PFADD, LPUSH, RPUSH, LPOP, RPOP, LINSERT, LSET, LREM, LTRIM, SORTSTORE, SADD, SREM, SPOP, SINTERSTORE, SUNIONSTORE, SDIFFSTORE, HSET, HDEL, HINCRBY, HINCRBYFLOAT, HEXPIRE, HEXPIRED, HPERSIST, ZADD, ZINCR, ZREM, ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX, ZPOPMIN, ZPOPMAX, ZUNIONSTORE, ZINTERSTORE, ZDIFFSTORE, ZRANGESTORE, GEORADIUSSTORE, GEOSEARCHSTORE, XADD, XDEL, XTRIM, XSETID, XGROUP_CREATE, XGROUP_CREATECONSUMER, XGROUP_DELCONSUMER, XGROUP_DESTROY, XGROUP_SETID, EXPIRED, EVICTED, NEW, KEYMISS;

    private final String text = name().toLowerCase(Locale.ROOT).replace("xgroup_", "xgroup-");

    private EventClass eventClass() {
        return switch (this) {
            case DEL, EXPIRE, PERSIST, RENAME_FROM, RENAME_TO, MOVE_FROM, MOVE_TO, COPY_TO, RESTORE ->
                EventClass.GENERIC;
            case SET, APPEND, INCRBY, INCRBYFLOAT, SETRANGE, SETBIT, PFADD -> EventClass.STRING;
            case LPUSH, RPUSH, LPOP, RPOP, LINSERT, LSET, LREM, LTRIM, SORTSTORE -> EventClass.LIST;
            case SADD, SREM, SPOP, SINTERSTORE, SUNIONSTORE, SDIFFSTORE -> EventClass.SET;
            case HSET, HDEL, HINCRBY, HINCRBYFLOAT, HEXPIRE, HEXPIRED, HPERSIST -> EventClass.HASH;
            case ZADD, ZINCR, ZREM, ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX, ZPOPMIN, ZPOPMAX, ZUNIONSTORE,
                    ZINTERSTORE, ZDIFFSTORE, ZRANGESTORE, GEORADIUSSTORE, GEOSEARCHSTORE ->
                EventClass.SORTED_SET;
            case XADD, XDEL, XTRIM, XSETID, XGROUP_CREATE, XGROUP_CREATECONSUMER, XGROUP_DELCONSUMER, XGROUP_DESTROY,
                    XGROUP_SETID ->
                EventClass.STREAM;
            case EXPIRED -> EventClass.EXPIRED;
            case EVICTED -> EventClass.EVICTED;
            case NEW -> EventClass.NEW;
            case KEYMISS -> EventClass.MISS;
        };
    }

    /** The bit of its class. */
    int bit() {
        return eventClass().bit();
    }

    /** Its name in messages. */
    String text() {
        return text;
    }
}
