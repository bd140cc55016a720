// receiver.go, run with: COUNTERSIGN_SECRETS="whsec_…" go run receiver.go 3000
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceS = 300
const bodyBytesMax = 1 << 20

// The action that undoes a step: write the name of your own compensation here.
const compensation = "order.cancel"

// After a rotation two secrets sign for a while: separate them by a space.
func secretsOf(text string) (secrets [][]byte) {
	for _, it := range strings.Fields(text) {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(it, "whsec_"))
		if err != nil {
			log.Fatal("COUNTERSIGN_SECRETS: ", err)
		}
		if len(secret) > 0 {
			secrets = append(secrets, secret)
		}
	}
	// Anybody can sign with an empty key.
	if len(secrets) == 0 {
		log.Fatal("COUNTERSIGN_SECRETS holds no secret.")
	}
	return secrets
}

func isGenuine(secrets [][]byte, headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	sentAt, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Now().Unix() - sentAt
	if id == "" || err != nil || age > toleranceS || age < -toleranceS {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, given := range strings.Split(headers.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(given), expected) {
				return true
			}
		}
	}
	return false
}

// In an application these are rows of its database, written in the transaction that does the work.
type receiver struct {
	secrets      [][]byte
	lock         sync.Mutex
	done, undone map[string]bool
}

func (it *receiver) process(headers http.Header, body []byte) (string, error) {
	id := headers.Get("webhook-id")
	if headers.Get("countersign-sample") == "true" {
		return "sample", nil
	}
	it.lock.Lock()
	defer it.lock.Unlock()
	if it.done[id] {
		return "repeated", nil
	}
	if headers.Get("countersign-action") == compensation {
		var undo struct {
			Payload          json.RawMessage `json:"payload"`
			Result           json.RawMessage `json:"result"`
			ForwardWebhookID string          `json:"forward_webhook_id"`
		}
		if err := json.Unmarshal(body, &undo); err != nil {
			return "", err
		}
		if undo.ForwardWebhookID == "" {
			return "", errors.New("not an undo")
		}
		// What is undone before it has arrived must not be done later.
		it.done[id], it.undone[undo.ForwardWebhookID] = true, true
		return "undone", nil
	}
	it.done[id] = true
	if it.undone[id] {
		return "skipped", nil
	}
	return "done", nil
}

func (it *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	status, outcome := http.StatusOK, ""
	switch {
	case err != nil:
		status, outcome = http.StatusRequestEntityTooLarge, "too large"
	case !isGenuine(it.secrets, request.Header, body):
		status, outcome = http.StatusUnauthorized, "refused"
	default:
		outcome, err = it.process(request.Header, body)
		if err != nil {
			status, outcome = http.StatusBadRequest, "not an undo"
		}
	}
	response.Header().Set("content-type", "application/json")
	response.WriteHeader(status)
	json.NewEncoder(response).Encode(map[string]string{"outcome": outcome})
}

func main() {
	secrets := secretsOf(os.Getenv("COUNTERSIGN_SECRETS"))
	handler := &receiver{secrets: secrets, done: map[string]bool{}, undone: map[string]bool{}}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
}
