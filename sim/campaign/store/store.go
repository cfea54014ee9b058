// Package store keeps the results of jobs and the last report of each campaign in a bucket: a
// folder, or what a driver that is linked in makes of a URL.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"lockstep/sim/campaign/hush"
	"lockstep/sim/campaign/job"
)

// Bucket keeps results. It is safe for concurrent use, also by several processes: a result is
// there as a whole or not at all.
type Bucket struct {
	bucket  *blob.Bucket
	name    string // for errors, without secrets
	secrets hush.Secrets
}

// Open opens a bucket: a path of a folder, which is made if there is none, or a URL. It fails
// if there is no driver for the URL, or if nothing can be written.
func Open(ctx context.Context, place string, secrets hush.Secrets) (*Bucket, error) {
	b := &Bucket{name: secrets.Hide(place), secrets: secrets}
	var err error
	if folder, is := asFolder(place); is {
		b.bucket, err = fileblob.OpenBucket(folder, &fileblob.Options{CreateDir: true, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	} else {
		b.bucket, err = blob.OpenBucket(ctx, place)
	}
	if err != nil {
		return nil, b.errorf("opened", err)
	}
	if err := b.writable(ctx); err != nil {
		return nil, errors.Join(err, b.bucket.Close())
	}
	return b, nil
}

// asFolder reports whether a place is a folder, and which.
func asFolder(place string) (string, bool) {
	if rest, is := strings.CutPrefix(place, "file://"); is {
		return rest, true
	}
	return place, !strings.Contains(place, "://")
}

// Absolute is a place that means the same in every working directory.
func Absolute(place string) (string, error) {
	if folder, is := asFolder(place); is {
		return filepath.Abs(folder)
	}
	u, err := url.Parse(place)
	if err != nil {
		return "", errors.New("the place of the results isn't a URL")
	}
	return u.String(), nil
}

// writable finds out now, and not after the first hour's search, whether results can be kept.
func (b *Bucket) writable(ctx context.Context) error {
	host, _ := os.Hostname()
	key := fmt.Sprintf("writable-%s-%d", host, os.Getpid())
	if err := b.bucket.WriteAll(ctx, key, []byte("x"), nil); err != nil {
		return b.errorf("written to", err)
	}
	return b.errorf("written to", b.bucket.Delete(ctx, key))
}

func (b *Bucket) errorf(what string, err error) error {
	if err == nil {
		return nil
	}
	return b.secrets.Error(fmt.Errorf("the results in %s can't be %s: %w", b.name, what, err))
}

// Close closes the bucket.
func (b *Bucket) Close() error { return b.bucket.Close() }

// folder has the results of an engine. Others are never looked at.
func folder(engine string) string { return "results/" + engine + "/" }

func key(j *job.Job) string { return folder(j.Engine) + j.Name() + ".json" }

// Has reports whether there is a result of a job.
func (b *Bucket) Has(ctx context.Context, j *job.Job) (bool, error) {
	there, err := b.bucket.Exists(ctx, key(j))
	return there, b.errorf("read", err)
}

// Put keeps a result.
func (b *Bucket) Put(ctx context.Context, r *job.Result) error {
	return b.errorf("written", b.bucket.WriteAll(ctx, key(&r.Outcome.Job), r.Encode(), &blob.WriterOptions{ContentType: "application/json"}))
}

// ErrDamaged is the error of a result that can't be read, or is one of another job.
var ErrDamaged = errors.New("the result is damaged")

// Get returns the result of a job. It fails with ErrDamaged if it isn't one, and then a new one
// may take its place.
func (b *Bucket) Get(ctx context.Context, j *job.Job) (*job.Result, error) {
	text, err := b.bucket.ReadAll(ctx, key(j))
	if err != nil {
		return nil, b.errorf("read", err)
	}
	var r job.Result
	if err := json.Unmarshal(text, &r); err != nil || !bytes.Equal(r.Outcome.Job.Encode(), j.Encode()) || !bytes.Equal(r.Encode(), text) {
		return nil, fmt.Errorf("%s: %w", key(j), ErrDamaged)
	}
	return &r, nil
}

// Names lists the names of the jobs of an engine that have results.
func (b *Bucket) Names(ctx context.Context, engine string) (map[string]bool, error) {
	all := map[string]bool{}
	for list := b.bucket.List(&blob.ListOptions{Prefix: folder(engine)}); ; {
		o, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, b.errorf("listed", err)
		}
		if name, is := strings.CutSuffix(path.Base(o.Key), ".json"); is {
			all[name] = true
		}
	}
}

// Last returns the last report of a campaign as it was kept, or nil if there is none.
func (b *Bucket) Last(ctx context.Context, campaign string) ([]byte, error) {
	text, err := b.bucket.ReadAll(ctx, reportKey(campaign))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	return text, b.errorf("read", err)
}

// Keep makes a report the last one of a campaign.
func (b *Bucket) Keep(ctx context.Context, campaign string, report []byte) error {
	return b.errorf("written", b.bucket.WriteAll(ctx, reportKey(campaign), report, &blob.WriterOptions{ContentType: "application/json"}))
}

func reportKey(campaign string) string { return "campaigns/" + campaign + "/last.json" }
