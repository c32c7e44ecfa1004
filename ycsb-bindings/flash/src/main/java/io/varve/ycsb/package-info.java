/**
 * The YCSB binding over a cache on flash: {@link io.varve.ycsb.FlashTierClient} runs inside the stock
 * {@code site.ycsb.Client}, and so does the cache.
 *
 * <p>Lives here: the translation of YCSB's operations into those of the cache, and its properties. Must not live here:
 * the cache itself, a network client.
 */
@org.jspecify.annotations.NullMarked
package io.varve.ycsb;
